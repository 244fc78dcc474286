"""The container image, built by the repository's Dockerfile with buildah and started: no daemon, no registry.

Two things are put in the place of what a registry would bring. The base, distroless `cc-debian12`, is made as its makers do, from
Debian's own packages without a shell; it is kept in target/test. The stage that compiles is replaced by the program that these tests
built; whether its sources are enough is asked of the compiler's list of files.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request
from pathlib import Path

import pytest

from server import KEY, free_port, until

ROOT = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ["SAUTI_BINARY"])
FOLDER = BINARY.parent.parent / "test/image"
PACKAGES = ["base-files", "ca-certificates", "gcc-12-base", "libc6", "libgcc-s1", "netbase", "tzdata"]
PROGRAM = "/usr/local/bin/sauti"
DOCKERFILE = (ROOT / "deploy/docker/Dockerfile").read_text()
BASE = re.findall(r"^FROM (\S+)$", DOCKERFILE, re.M)[-1]
RUNTIME = DOCKERFILE[DOCKERFILE.index(f"FROM {BASE}") :]
COMPILED = "FROM scratch AS build\nCOPY sauti /sauti\nCOPY data /data\n\n"
POLICY = '{"default": [{"type": "insecureAcceptAnything"}]}'


def buildah(*arguments):
    storage = ["--root", FOLDER / "storage", "--runroot", FOLDER / "run", "--storage-driver", "vfs"]
    return ["buildah", *storage, *arguments]


def call(*arguments):
    done = subprocess.run(buildah(*arguments), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def base_folder():
    """The files of the base, once."""
    base, debs = FOLDER / "base", FOLDER / "debs"
    if not (base / "etc/passwd").exists():
        for folder in (base, debs):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        subprocess.run(["apt-get", "-qq", "download", *PACKAGES], cwd=debs, check=True, timeout=300)
        for deb in sorted(debs.iterdir()):
            subprocess.run(["dpkg-deb", "--extract", deb, base], check=True)
        trusted = sorted((base / "usr/share/ca-certificates/mozilla").glob("*.crt"))
        (base / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
        (base / "etc/ssl/certs/ca-certificates.crt").write_bytes(b"".join(one.read_bytes() for one in trusted))
        (base / "etc/passwd").write_text("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")
    return base


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    """The name of a container of the image."""
    folder = tmp_path_factory.mktemp("image")
    shutil.rmtree(FOLDER / "storage", ignore_errors=True)
    base = base_folder()
    policy = folder / "policy.json"
    policy.write_text(POLICY)
    trust = ["--signature-policy", str(policy)]
    empty = call("from", *trust, "scratch")
    call("copy", empty, base, "/")
    call("commit", *trust, "--rm", empty, BASE)
    context = folder / "context"
    (context / "data").mkdir(parents=True)
    subprocess.run(["strip", "--strip-debug", "-o", context / "sauti", BINARY], check=True)
    shutil.copytree(ROOT / "models", context / "models")
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        shutil.copy(ROOT / name, context)
    (folder / "Dockerfile").write_text(COMPILED + RUNTIME)
    options = ["--isolation", "chroot", "--format", "docker", "--pull-never", "--layers=false"]
    call("build", *trust, *options, "-f", folder / "Dockerfile", "-t", "sauti", context)
    yield call("from", *trust, "--pull-never", "localhost/sauti")
    shutil.rmtree(FOLDER / "storage", ignore_errors=True)


@pytest.fixture(scope="module")
def service(container, tmp_path_factory):
    """The address of the service inside, what it printed, and how to run another command beside it."""
    port, log = free_port(), tmp_path_factory.mktemp("service") / "log"
    inside = ["run", "--isolation", "chroot", "--env", f"SAUTI_SERVER__LISTEN=127.0.0.1:{port}", container]
    with log.open("w") as out:
        process = subprocess.Popen(buildah(*inside, PROGRAM, "serve", "--demo"), stdout=out, stderr=out, start_new_session=True)
    try:
        until("the service inside greets", lambda: KEY.search(log.read_text()) or process.poll() is not None, 90)
        assert process.poll() is None, log.read_text()[-3000:]
        yield f"http://127.0.0.1:{port}", KEY.search(log.read_text()).group(), inside
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def post(url, key, content_type, body):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": content_type}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=120) as answer:
        return answer.read()


def test_the_image_answers_both_operations(service):
    url, key, _ = service
    order = json.dumps({"text": "Habari za asubuhi.", "voice_id": "asha"}).encode()
    sound = post(f"{url}/v1/audio/speech", key, "application/json", order)
    form = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n' + sound + b"\r\n--x--\r\n"
    heard = post(f"{url}/v1/audio/transcriptions", key, "multipart/form-data; boundary=x", form)
    assert "habari" in json.loads(heard)["text"].lower()


def test_the_health_check_of_the_image_finds_the_service(service):
    _, _, inside = service
    assert "ready" in call(*inside, PROGRAM, "health")


def test_the_program_inside_is_nobody_in_particular_and_has_no_shell(container, service):
    config = json.loads(call("inspect", container))["Docker"]["config"]
    assert config["User"] == "65532:65532" and config["Entrypoint"] == [PROGRAM] and config["Healthcheck"]
    owners = {path.stat().st_uid for path in Path("/proc").glob("[0-9]*") if runs(path) == f"{PROGRAM}\0serve\0--demo\0"}
    assert owners == {65532}
    root = Path(call("mount", container))
    assert (root / PROGRAM[1:]).exists() and not (root / "bin/sh").exists() and not (root / "usr/bin/dash").exists()


def runs(process):
    try:
        return (process / "cmdline").read_text()
    except OSError:  # it ended meanwhile
        return ""


def test_the_stage_that_compiles_is_given_every_file_that_the_compiler_read():
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE[: DOCKERFILE.index(f"FROM {BASE}")], re.M)
    given = [ROOT / source for line in copied for source in line.split()]
    read = [Path(word) for word in BINARY.with_suffix(".d").read_text().split(":", 1)[1].split()]
    assert len(read) > 100
    # What a build script wrote was not copied: the stage that compiles runs the script too.
    read = [path for path in read if "out" not in path.parts]
    missing = [path for path in read if not any(path == one or one in path.parents for one in given)]
    assert not missing, missing
