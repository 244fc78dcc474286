"""Documents against the code: every path, setting, variable, metric, command and route that they name exists."""

import fnmatch
import functools
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TICKS = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
SHELL = re.compile(r"^```(?:sh|shell|bash)\n(.*?)^```", re.M | re.S)
# A file by its ending, or anything below one of our folders.
FILE = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*\.(?:rs|py|md|mjs|sql|sh|toml|yaml|json)")
BELOW = re.compile(r"(?:bench|clients|crates|deploy|docs|fuzz|models|recipes|tests|training)(?:/[\w.*-]+)+/?")
FOLDER = re.compile(r"[\w-]+(?:/[\w-]+)*/")
# Made while it runs, by the program, the tests or the reader.
MADE = re.compile(r"target/|training/scratch|bench/(?:work|out)|\.\./|sauti\.toml$|package\.json$|outbox/$|cache/$|wav/$")
VARIABLE = re.compile(r"\bSAUTI_[A-Z][A-Z_]*[A-Z]\b")
METRIC = re.compile(r"\bsauti_[a-z_]*[a-z]\b(?:\{[a-z_,]+\})?")
ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\s(/v1/[\w/{}-]+)")
SUBCOMMANDS = re.compile(r"#\[derive\([^)]*Subcommand[^)]*\)\]\n(?:#\[[^\n]*\n)*(?:pub(?:\([^)]*\))? )?enum (\w+) \{\n(.*?)^\}", re.M | re.S)
VARIANT = re.compile(r"^    ([A-Z]\w*)(?:\((?:\w+::)*(\w+)\))?", re.M)
OPTION = re.compile(r"#\[arg\((.*?)\)\]\s*(?:pub(?:\([^)]*\))? )?(\w+): ", re.S)


@functools.cache
def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def documents(names):
    return [name for name in names if name.endswith(".md")]


def rust(names):
    return [name for name in names if name.startswith("crates/") and name.endswith(".rs")]


def prose(name):
    """A document, or the comments of a source file."""
    text = read(name)
    return text if name.endswith(".md") else "\n".join(line for line in text.splitlines() if line.lstrip().startswith("//"))


def exists(path, document, everything):
    path = path.removeprefix("./").rstrip("/")
    if (Path(document).parent / path).as_posix() in everything or path in everything:
        return True
    if "*" in path:
        return any(fnmatch.fnmatch(one, path) or fnmatch.fnmatch(one, f"*/{path}") for one in everything)
    return any(one.endswith(f"/{path}") for one in everything)


def every_path_in_a_document_exists(names):
    everything = set(names)
    everything.update(parent.as_posix() for name in names for parent in Path(name).parents)
    for name in documents(names) + rust(names):
        text = prose(name)
        words = [word for ticks in TICKS.findall(text) for word in ticks.split()[:1]]
        paths = [word for word in words if FILE.fullmatch(word) or BELOW.fullmatch(word)]
        if name.startswith(("docs/", "CONTRIBUTING")):
            paths += [word for word in words if FOLDER.fullmatch(word)]
        for path in sorted({*paths, *(LINK.findall(text) if name.endswith(".md") else [])}):
            if not MADE.search(path) and not exists(path, name, everything):
                yield f"{name} names `{path}`, which is not there"


@functools.cache
def settings():
    (file,) = (ROOT / "crates").glob("*/src/config/default.toml")
    return {f"{section}.{key}" for section, keys in tomllib.loads(file.read_text()).items() for key in keys}


def every_setting_in_a_document_exists(names):
    sections = "|".join(sorted({key.split(".")[0] for key in settings()}))
    # Ids of events are written alike, and are none of these sections' keys.
    named = re.compile(rf"(?:{sections})\.[a-z_*]+")
    for name in documents(names):
        for ticks in TICKS.findall(read(name)):
            found = named.match(ticks)
            if found and not FILE.fullmatch(ticks) and not fnmatch.filter(settings(), found.group()) and f'"{ticks}"' not in source(names):
                yield f"{name} names the setting `{found.group()}`, which is not in default.toml"


def source(names):
    return code(tuple(names))


@functools.cache
def code(names):
    endings = (".rs", ".py", ".mjs", ".ts", ".sh", ".yaml", ".service")
    return "\n".join(read(name) for name in names if name.endswith(endings) or "." not in Path(name).name)


def every_variable_in_a_document_exists(names):
    variables = {f"SAUTI_{key.upper().replace('.', '__')}" for key in settings()}
    for name in documents(names):
        for variable in sorted(set(VARIABLE.findall(read(name)))):
            if variable not in variables and ("__" in variable or variable not in source(names)):
                yield f"{name} names the variable {variable}, which nothing reads"


def every_metric_in_a_document_exists(names):
    program = "\n".join(read(name) for name in rust(names) if "/src/" in name)
    crates = {f"sauti_{Path(name).parts[1]}" for name in rust(names)}
    for name in documents(names):
        for ticks in TICKS.findall(read(name)):
            for metric in METRIC.findall(ticks) if METRIC.match(ticks) else []:
                word, _, labels = metric.partition("{")
                if word not in crates and f'"{word}"' not in program:
                    yield f"{name} names the metric `{word}`, which the program does not have"
                for label in labels.strip("}").split(",") if labels else []:
                    if f'"{label}"' not in program:
                        yield f"{name} gives `{word}` the label `{label}`, which the program does not have"


def kebab(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


@functools.cache
def commands(names):
    """The program's commands as a tree of names, and all options, from clap's derives."""
    program = "\n".join(read(name) for name in names if name.startswith("crates/") and name.endswith(".rs"))
    enums = {enum: dict((kebab(variant), kind) for variant, kind in VARIANT.findall(body)) for enum, body in SUBCOMMANDS.findall(program)}

    def tree(enum):
        return {name: tree(kind) if kind in enums else {} for name, kind in enums[enum].items()}

    options = {"help", "version"}
    for arguments, field in OPTION.findall(program):
        long = re.search(r'\blong\b(?: = "([\w-]+)")?', arguments)
        if long:
            options.add(long.group(1) or field.replace("_", "-"))
    return tree("Command"), options


def calls_of_the_program(text):
    for line in [*TICKS.findall(text), *(line for block in SHELL.findall(text) for line in block.replace("\\\n", " ").splitlines())]:
        found = re.match(r"(?:[A-Z_]+=\S+ )*(?:cargo run --release -- |(?:\S*/)?sauti )(.*)", line.strip())
        if found:
            yield re.split(r" [|>&;#] ?| &&", found.group(1))[0].split()


def every_command_in_a_document_exists(names):
    tree, options = commands(tuple(names))
    for name in documents(names):
        for words in calls_of_the_program(read(name)):
            place, said = tree, "sauti"
            for word in words:
                if word.startswith("--"):
                    if word[2:].split("=")[0] not in options:
                        yield f"{name}: `{' '.join(['sauti', *words])}`: no command has the option {word}"
                elif place and re.fullmatch(r"[a-z-]+", word):
                    said = f"{said} {word}"
                    if word not in place:
                        yield f"{name} names the command `{said}`, which is not there"
                        break
                    place = place[word]


def every_route_in_a_document_exists(names):
    paths = json.loads(read("docs/openapi.json"))["paths"]
    routes = {(method.upper(), re.sub(r"\{[^}]*\}", "{}", path)) for path, methods in paths.items() for method in methods}
    for name in documents(names):
        for method, path in sorted(set(ROUTE.findall(read(name)))):
            if (method, re.sub(r"\{[^}]*\}", "{}", path)) not in routes:
                yield f"{name} names `{method} {path}`, which is not in docs/openapi.json"


RULES = (
    every_path_in_a_document_exists, every_setting_in_a_document_exists, every_variable_in_a_document_exists,
    every_metric_in_a_document_exists, every_command_in_a_document_exists, every_route_in_a_document_exists,
)
