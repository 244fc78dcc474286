"""Checks every dependency against deny.toml, for machines where cargo-deny is not to be had."""

import json
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"\(|\)|\bAND\b|\bOR\b|[^\s()]+(?: WITH [^\s()]+)?")


def is_allowed(expression, allow):
    """Evaluates an SPDX expression: OR needs one side, AND both. 'A/B' is the old way to say OR."""
    tokens = TOKEN.findall(expression.replace(" / ", " OR ").replace("/", " OR "))

    def either(at):
        value, at = both(at)
        while at < len(tokens) and tokens[at] == "OR":
            right, at = both(at + 1)
            value = value or right
        return value, at

    def both(at):
        value, at = one(at)
        while at < len(tokens) and tokens[at] == "AND":
            right, at = one(at + 1)
            value = value and right
        return value, at

    def one(at):
        if tokens[at] == "(":
            value, at = either(at + 1)
            return value, at + 1
        return tokens[at] in allow, at + 1

    return either(0)[0]


def packages(rules):
    found = {}
    for target in rules["graph"]["targets"]:
        command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
        metadata = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
        used = {node["id"] for node in metadata["resolve"]["nodes"]}
        found.update((package["id"], package) for package in metadata["packages"] if package["id"] in used)
    return list(found.values())


def every_licence_is_allowed(packages, rules):
    allow = set(rules["licenses"]["allow"])
    for package in packages:
        licence = package["license"]
        if not licence:
            yield f"{package['name']} {package['version']} names no licence"
        elif not is_allowed(licence, allow):
            yield f"{package['name']} {package['version']} is under {licence}"


def no_banned_crate_is_used(packages, rules):
    banned = {ban["crate"] for ban in rules["bans"]["deny"]}
    for package in packages:
        if package["name"] in banned:
            yield f"{package['name']} is banned"


def every_crate_comes_from_the_registry(packages, _rules):
    for package in packages:
        source = package["source"]
        if source and not source.startswith("registry+"):
            yield f"{package['name']} comes from {source}"


def show_duplicates(packages):
    versions = defaultdict(set)
    for package in packages:
        versions[package["name"]].add(package["version"])
    for name, several in sorted(versions.items()):
        if len(several) > 1:
            print(f"note  {name} in {len(several)} versions: {', '.join(sorted(several))}")


def check_the_evaluator():
    allow = {"MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"}
    assert is_allowed("MIT OR GPL-3.0", allow)
    assert is_allowed("GPL-3.0/MIT", allow)
    assert is_allowed("(MIT OR GPL-3.0) AND Unicode-3.0", allow)
    assert is_allowed("Apache-2.0 WITH LLVM-exception", allow)
    assert not is_allowed("MIT AND GPL-3.0", allow)
    assert not is_allowed("GPL-3.0", allow)
    assert not is_allowed("Apache-2.0", allow)


def main():
    check_the_evaluator()
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    used = packages(rules)
    checks = (every_licence_is_allowed, no_banned_crate_is_used, every_crate_comes_from_the_registry)
    failed = 0
    for check in checks:
        problems = list(check(used, rules))
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok'}  {check.__name__.replace('_', ' ')} ({len(used)} crates)")
        for problem in problems:
            print(f"      {problem}")
    show_duplicates(used)
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
