#!/usr/bin/env python3
"""Import circles: files of one crate that need each other, directly or through others.

  tests/circles.py                 the largest circle of each crate
  tests/circles.py --why server    the imports that tie the largest one, those that open it most first

A file needs another when it names something in it by a path (`use` or in the code). What a module imports is followed to the file that
has the thing; a `mod` line alone is a declaration, not a need. Tests are left out.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES_MAX = 4
# Crates that are above it. A number here may only go down.
RATCHET = {}

COMMENT = re.compile(r"^\s*//.*$", re.M)
INLINE_TESTS = re.compile(r"^#\[cfg\((?:test|all\(test, [^\]]*)\)\]\n(?:#.*\n)*(?:pub(?:\([^)]*\))? )?mod \w+ \{\n.*?^\}$", re.M | re.S)
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);", re.M)
PATH = re.compile(r"(?<![\w:])[a-z_]\w*(?:::\w+)+")


def modules(crate):
    """The files of a crate by their module's path, with their text, without tests."""
    folder, found = ROOT / "crates" / crate / "src", {}
    for file in sorted(folder.rglob("*.rs")):
        name = file.relative_to(folder)
        if name.name == "main.rs" or any("tests" in part for part in name.parts):
            continue
        path = name.with_suffix("").parts
        path = path[:-1] if path[-1] in ("mod", "lib") else path
        found[path] = INLINE_TESTS.sub("", COMMENT.sub("", file.read_text()))
    return found


def expand(tree):
    """`a::{b, c::{d, e}}` as `a::b`, `a::c::d`, `a::c::e`."""
    head, brace, rest = tree.strip().partition("{")
    if not brace:
        return [head.strip()]
    parts, depth, start = [], 0, 0
    body = rest.rstrip()[:-1]
    for at, letter in enumerate(body + ","):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(body[start:at])
            start = at + 1
    return [head + path for part in parts if part.strip() for path in expand(part)]


def absolute(module, path, files):
    """A path from the crate's root, or None when it leads out of the crate."""
    words = [word.split(" as ")[0].strip() for word in path.split("::")]
    if words[0] == "crate":
        return words[1:]
    if words[0] == "self":
        return [*module, *words[1:]]
    ups = next((at for at, word in enumerate(words) if word != "super"), len(words))
    if ups:
        return [*module[:-ups], *words[ups:]]
    return [*module, *words] if (*module, words[0]) in files else None


def imports(crate):
    """For each file the files it needs, each with one path that says so."""
    files = modules(crate)
    paths, exports = {}, {}
    for module, text in files.items():
        paths[module] = PATH.findall(USE.sub("", text))
        for tree in USE.findall(text):
            for path in expand(tree):
                paths[module].append(path)
                target = absolute(module, path, files)
                if target:
                    exports[module, path.replace("::", " ").split()[-1]] = target
    needs = {module: {} for module in files}
    for module in files:
        for path in paths[module]:
            target = file_of(absolute(module, path, files), files, exports)
            if target is not None and target != module:
                needs[module].setdefault(target, path)
    return needs


def file_of(words, files, exports):
    for _ in range(10):
        if words is None:
            return None
        depth = 0
        while depth < len(words) and tuple(words[: depth + 1]) in files:
            depth += 1
        module, rest = tuple(words[:depth]), words[depth:]
        if not rest or (module, rest[0]) not in exports:
            return module
        words = [*exports[module, rest[0]], *rest[1:]]
    return module


def reached(graph, start):
    seen, todo = {start}, [start]
    while todo:
        new = [one for one in graph[todo.pop()] if one not in seen]
        seen.update(new)
        todo += new
    return seen


def largest_circle(needs):
    """The largest set of files in which each is reached from each (strongly connected component)."""
    back = {module: [] for module in needs}
    for module, targets in needs.items():
        for target in targets:
            back[target].append(module)
    best, left = set(), set(needs)
    while left:
        start = next(iter(left))
        circle = reached(needs, start) & reached(back, start)
        left -= circle
        best = max(best, circle, key=len)
    return best if len(best) > 1 else set()


def crates():
    return sorted(folder.name for folder in (ROOT / "crates").iterdir() if (folder / "src").is_dir())


def no_import_circle_grows(_names):
    for crate in crates():
        size, limit = len(largest_circle(imports(crate))), RATCHET.get(crate, FILES_MAX)
        if size > limit:
            yield f"crates/{crate} has an import circle of {size} files, over {limit}: tests/circles.py --why {crate}"
        elif size < limit and limit > FILES_MAX:
            print(f"      crates/{crate}: the largest circle has {size} files, so lower its number in tests/circles.py from {limit}")


def why(crate):
    needs = imports(crate)
    circle = largest_circle(needs)
    within = {one: {other: path for other, path in needs[one].items() if other in circle} for one in circle}
    rows = []
    for one in circle:
        for other, path in within[one].items():
            cut = {**within, one: {name: why for name, why in within[one].items() if name != other}}
            rows.append((len(largest_circle(cut)), "::".join(one) or "lib", "::".join(other) or "lib", path))
    print(f"{crate}: {len(circle)} files, {len(rows)} imports; how large the circle would be without each")
    for left, one, other, path in sorted(rows):
        print(f"{left:4}  {one} -> {other}   ({path})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--why"]:
        why(sys.argv[2] if len(sys.argv) > 2 else "server")
    else:
        for name in crates():
            print(f"{name:8} {len(largest_circle(imports(name)))}")
