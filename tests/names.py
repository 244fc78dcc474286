#!/usr/bin/env python3
"""One word, one thing: type names that are declared in more than one crate.

  tests/names.py

Types are structs, enums, traits and aliases; tests are left out.
"""

import re

from circles import crates, modules

TYPE = re.compile(r"^(?:\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait)|(?:pub(?:\([^)]*\))? )?type) (\w+)", re.M)


def types():
    """For each type name, the files that declare it."""
    found = {}
    for crate in crates():
        for module, text in modules(crate).items():
            for name in set(TYPE.findall(text)):
                found.setdefault(name, []).append("::".join([crate, *module]))
    return found


def shared():
    """The names that stand for something in more than one crate."""
    return {name: places for name, places in sorted(types().items()) if len({place.split("::")[0] for place in places}) > 1}


def no_type_name_means_two_things(_names):
    for name, places in shared().items():
        yield f"the type {name} is declared in {', '.join(places)}: one of them needs another name"


if __name__ == "__main__":
    for name, places in shared().items():
        print(f"{name:20}", *places)
    several = sum(len(places) > 1 for places in types().values())
    print(f"{len(shared())} of {len(types())} names stand for something in several crates, {several} in several files")
