"""What the program is made of: checksums, yanked versions, known weaknesses, and a bill of materials (CycloneDX 1.5)."""

import concurrent.futures
import json
import os
import shutil
import ssl
import subprocess
import sys
import time
import tomllib
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = "https://index.crates.io"
# Made once: to read the system's certificates takes longer than to ask.
TLS = ssl.create_default_context()
SBOM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "sbom.json"


def locked():
    return tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]


def every_crate_has_a_checksum(packages):
    for package in packages:
        if package.get("source") and not package.get("checksum"):
            yield f"{package['name']} {package['version']} has no checksum in Cargo.lock"


def index_path(name):
    name = name.lower()
    return {1: f"1/{name}", 2: f"2/{name}", 3: f"3/{name[0]}/{name}"}.get(len(name), f"{name[:2]}/{name[2:4]}/{name}")


def releases(name):
    for wait_s in (1, 4, 15, None):
        try:
            with urllib.request.urlopen(f"{INDEX}/{index_path(name)}", timeout=30, context=TLS) as answer:
                return [json.loads(line) for line in answer.read().splitlines() if line]
        except OSError:  # hundreds of small questions: a name server or a proxy drops one now and then
            if wait_s is None:
                raise
            time.sleep(wait_s)


def no_crate_was_yanked(packages):
    """Asks the registry's index: a version is yanked when its author found it unfit. The checksum must be theirs too."""
    wanted = [package for package in packages if package.get("source")]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = pool.map(releases, [package["name"] for package in wanted])
        for package, versions in zip(wanted, answers):
            named = f"{package['name']} {package['version']}"
            found = [one for one in versions if one["vers"] == package["version"]]
            if not found:
                yield f"{named} is not in the registry"
            elif found[0]["yanked"]:
                yield f"{named} was yanked"
            elif found[0]["cksum"] != package["checksum"]:
                yield f"{named} has another checksum in the registry"


def no_weakness_is_known(_packages):
    folder = os.environ["ADVISORY_DB"]
    if not shutil.which("cargo-audit"):
        yield "ADVISORY_DB is set, but cargo-audit is not installed"
        return
    done = subprocess.run(["cargo", "audit", "--no-fetch", "--db", folder], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        yield done.stdout[-3000:] + done.stderr[-1000:]


def linked():
    """The crates that end up in the program: no test tools, no build scripts' own."""
    command = ["cargo", "tree", "--locked", "-p", "sauti", "-e", "normal", "--prefix", "none", "--format", "{p}"]
    text = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {tuple(line.split()[:2]) for line in text.splitlines() if line.strip()}


def the_bill_of_materials_is_complete(packages):
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    licences = {(package["name"], package["version"]): package["license"] for package in metadata["packages"]}
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in packages}
    components = []
    for name, version in sorted(linked()):
        version = version.lstrip("v")
        component = {"type": "library", "name": name, "version": version, "purl": f"pkg:cargo/{name}@{version}"}
        if licences.get((name, version)):
            component["licenses"] = [{"expression": licences[name, version].replace("/", " OR ")}]
        else:
            yield f"{name} {version} names no licence"
        if checksums.get((name, version)):
            component["hashes"] = [{"alg": "SHA-256", "content": checksums[name, version]}]
        components.append(component)
    for model in ("voices", "recogniser"):
        manifest = json.loads((ROOT / "models" / model / "manifest.json").read_text())
        for name, listed in manifest["files"].items():
            digest = listed if isinstance(listed, str) else listed["sha256"]
            components.append({"type": "machine-learning-model", "name": f"{model}/{name}", "hashes": [{"alg": "SHA-256", "content": digest}]})
    program = next(package["version"] for package in packages if package["name"] == "sauti")
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "sauti", "version": program}},
        "components": components,
    }
    SBOM.parent.mkdir(parents=True, exist_ok=True)
    SBOM.write_text(json.dumps(document, indent=1) + "\n")
    print(f"      {len(components)} components in {SBOM.name}")
    if len(components) < 100:
        yield f"only {len(components)} components were found"


def main():
    packages = locked()
    checks = [every_crate_has_a_checksum, no_crate_was_yanked, the_bill_of_materials_is_complete]
    # The registries carry no copy of the RustSec database.
    if os.environ.get("ADVISORY_DB"):
        checks.append(no_weakness_is_known)
    else:
        print("note  known weaknesses are not looked up: ADVISORY_DB names no copy of the RustSec database")
    failed = 0
    for check in checks:
        problems = list(check(packages))
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok'}  {check.__name__.replace('_', ' ')} ({len(packages)} crates)")
        for problem in problems:
            print(f"      {problem}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
