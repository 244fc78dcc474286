"""Valkey and NATS over TLS, with certificates of a company's own: trusted where the settings say so, and never else."""

import shutil
import socket
import ssl
import subprocess
import urllib.parse

import pytest
from service import STARTED, Service, free_port, until

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def authority(folder, name):
    openssl(folder, "req", "-x509", *KEY, "-days", "2", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")


def certificate(folder, issuer, name):
    openssl(folder, "req", *KEY, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{issuer}.pem", "-CAkey", f"{issuer}.key", "-days", "2",
            "-CAcreateserial", "-extfile", "names", "-out", f"{name}.pem")


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Both ask for a certificate of the caller too. The settings that name them, without whom to trust."""
    folder = tmp_path_factory.mktemp("tls")
    for name in ("ours", "other"):
        authority(folder, name)
    for name in ("server", "caller"):
        certificate(folder, "ours", name)
    valkey, nats = free_port(), free_port()
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    files = [folder / "server.pem", folder / "server.key", folder / "ours.pem"]
    commands = [
        [program, "--port", "0", "--tls-port", valkey, "--bind", "127.0.0.1", "--save", "", "--dir", folder,
         "--tls-cert-file", files[0], "--tls-key-file", files[1], "--tls-ca-cert-file", files[2]],
        [shutil.which("nats-server"), "-js", "-sd", folder / "nats", "-a", "127.0.0.1", "-p", nats,
         "--tlsverify", "--tlscert", files[0], "--tlskey", files[1], "--tlscacert", files[2]],
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [subprocess.Popen([str(part) for part in command], **quiet) for command in commands]
    STARTED.extend(processes)
    settings = {"valkey.url": f"rediss://127.0.0.1:{valkey}/0", "nats.url": f"tls://127.0.0.1:{nats}"}
    for part in ("valkey", "nats"):
        settings |= {f"{part}.cert_file": folder / "caller.pem", f"{part}.key_file": folder / "caller.key"}
    yield folder, settings
    for process in processes:
        process.kill()
        process.wait()


def keys_in_valkey(folder, settings):
    context = ssl.create_default_context(cafile=folder / "ours.pem")
    context.load_cert_chain(folder / "caller.pem", folder / "caller.key")
    port = urllib.parse.urlparse(settings["valkey.url"]).port
    with socket.create_connection(("127.0.0.1", port), 10) as line, context.wrap_socket(line, server_hostname="127.0.0.1") as stream:
        stream.sendall(b"DBSIZE\r\n")
        return int(stream.recv(100).decode().strip().lstrip(":"))


def trusting(folder, settings, name):
    return {**settings, "valkey.ca_file": folder / f"{name}.pem", "nats.ca_file": folder / f"{name}.pem"}


def test_what_is_shared_and_what_waits_goes_through_tls(tmp_path, servers):
    with Service(tmp_path, trusting(*servers, "ours")) as service:
        until("NATS is found", lambda: "NATS answers" in service.log())
        status, _, _ = service.speak("Habari ya asubuhi.")
        assert status == 200
        figures = service.ask("GET", "/metrics")[2].decode()
        assert "sauti_nats_up 1" in figures, figures
        # A first greeting on a busy machine may take longer than a caller waits for it; the next one is shared.
        until("speech is in Valkey", lambda: service.speak("Habari ya asubuhi.")[0] == 200 and keys_in_valkey(*servers) > 0)
    said = service.run("doctor", "--quick").stdout
    assert "ok    valkey     " in said and "ok    queue      NATS " in said, said


def test_a_server_of_another_authority_is_not_trusted(tmp_path, servers):
    service = Service(tmp_path, trusting(*servers, "other"))
    said = service.run("doctor", "--quick").stdout
    assert "warn  valkey     " in said and "warn  queue      " in said, said
    with service:
        status, _, _ = service.speak("Habari ya jioni.")
        assert status == 200
        until("it is told", lambda: "Valkey does not answer" in service.log() and "NATS does not answer" in service.log())


def test_settings_that_cannot_be_meant_are_refused(tmp_path, servers):
    folder, settings = servers
    for wrong, named in [
        ({"valkey.url": "redis://127.0.0.1", "valkey.ca_file": folder / "ours.pem"}, "valkey.ca_file"),
        ({"valkey.url": settings["valkey.url"], "valkey.ca_file": "no-such.pem"}, "valkey.ca_file"),
        ({"valkey.url": settings["valkey.url"], "valkey.cert_file": folder / "caller.pem"}, "valkey.cert_file"),
    ]:
        refused = Service(tmp_path, wrong).run("serve", "--listen", "127.0.0.1:0")
        assert refused.returncode == 1 and named in refused.stderr, (wrong, refused.stderr)
