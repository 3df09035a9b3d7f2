"""Checks command lines of the documentation against the programs that they call, without running them."""

import importlib.util
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import click

from headrace.broker.cli.root import cli
from headrace.config.ignored_keys import IGNORED
from headrace.config.server_keys import SERVER_KEYS
from headrace.config.topic_keys import TOPIC_CONFIGS
from tests.environment.paths import ROOT

_OPERATORS = {"|", "||", "&", "&&", ";", "(", ")", "<", ">", ">>", "do", "done", "then"}


def commands(script: str) -> list[list[str]]:
    """Split a shell script into its simple commands, each a list of words.

    Raises:
        ValueError: a quotation mark is missing.
    """
    found: list[list[str]] = []
    for line in script.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;()<>")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word in _OPERATORS:
                found.append(words)
                words = []
            else:
                words.append(word)
    return [words for words in found if words]


def headrace_arguments(words: list[str]) -> list[str] | None:
    """Return what a simple command tells `headrace`, also the one in a container; None if it is none."""
    if words[:2] == ["docker", "build"]:
        return None
    programs = [word.rpartition("/")[2] for word in words]
    places = [at for at, it in enumerate(programs) if it == "headrace" and "://" not in words[at]]
    # `up --no-deps headrace` and `run ... headrace` name the service or image, and no command.
    return words[places[-1] + 1 :] or None if places else None


def complaint(arguments: list[str]) -> str | None:
    """Say what is wrong with a command line of `headrace`: commands, options, number of arguments."""
    try:
        command, rest = _resolve(arguments)
        context = click.Context(command, **command.context_settings)
        values, left, _ = command.make_parser(context).parse_args(list(rest))
    except click.UsageError as error:
        return error.format_message()
    if left:
        return f"too many arguments: {left}"
    missing = [it.name for it in command.params if it.required and _is_missing(it, values)]
    return f"missing: {missing}" if missing else unknown_keys(rest)


def _is_missing(parameter: click.Parameter, values: Mapping[str, object]) -> bool:
    value = values.get(parameter.name or "")
    return value is None or parameter.value_is_missing(value)


def unknown_keys(arguments: list[str]) -> str | None:
    """Say which settings that `--override` gives do not exist."""
    keys = [
        value.partition("=")[0] for option, value in pairwise(arguments) if option == "--override"
    ]
    unknown = [key for key in keys if key not in SERVER_KEYS]
    return f"no such setting: {unknown}" if unknown else None


def usage_complaint(text: str) -> str | None:
    """Say what is wrong with a form of a command, such as `headrace wal info | verify | dump PATH`."""
    path: list[str] = []
    for alternative in re.split(r"\s\|\s", text.removeprefix("headrace ")):
        words = re.sub(r"[\[\]]|\.\.\.", " ", alternative).split()
        if path and not words[0].startswith("-"):
            words = [*path[:-1], *words]
        elif path:
            words = [*path, *words]
        try:
            command, rest = _resolve(words)
        except click.UsageError as error:
            return error.format_message()
        path = words[: len(words) - len(rest)]
        known = {
            name for option in command.params for name in [*option.opts, *option.secondary_opts]
        }
        options = [word.partition("=")[0] for word in rest if word.startswith("-")]
        wrong = [option for option in options if option not in {*known, "-h", "--help"}]
        if wrong:
            return f"no such options: {wrong}"
    return None


@cache
def top_level() -> frozenset[str]:
    """The commands that `headrace` has."""
    return frozenset(cli.list_commands(click.Context(cli)))


def _resolve(words: list[str]) -> tuple[click.Command, list[str]]:
    command: click.Command = cli
    rest = list(words)
    while isinstance(command, click.Group):
        if not rest or rest[0].startswith("-"):
            break  # a group by itself, with options of its own: `headrace cluster quorum -b ...`
        found = command.get_command(click.Context(command, info_name=command.name), rest[0])
        if found is None:
            raise click.UsageError(f"there is no command {rest[0]!r} in {command.name!r}")
        command, rest = found, rest[1:]
    return command, rest


def make_complaint(words: list[str]) -> str | None:
    """Say which targets or variables of `make ...` do not exist."""
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):", makefile, re.MULTILINE))
    variables = set(re.findall(r"\$\((?:if \$\()?([A-Z]+)\)", makefile))
    for word in words[1:]:
        name, equals, _ = word.partition("=")
        if name not in (variables if equals else targets):
            return f"make knows no {name}"
    return None


def python_complaint(words: list[str]) -> str | None:
    """Say what does not exist of `python -m MODULE ...`, `pytest ...`: modules, files, options."""
    if words[0] != "pytest":
        at = words.index("-m") + 1
        module, rest = words[at], words[at + 1 :]
        if importlib.util.find_spec(module) is None:
            return f"there is no module {module}"
        if module != "pytest":
            source = _source(module)
            options = [word.partition("=")[0] for word in rest if word.startswith("--")]
            wrong = [option for option in options if f'"{option}"' not in source]
            return f"{module} has no {wrong}" if wrong else None
        words = words[at:]
    missing = [
        word for word in words[1:] if "/" in word and not (ROOT / word.partition("::")[0]).exists()
    ]
    own = (ROOT / "tests/conftest.py").read_text()
    options = [word for word in words if re.fullmatch(r"--[a-z-]+", word)]
    missing += [option for option in options if f'"{option}"' not in own]
    return f"not there: {missing}" if missing else None


def _source(module: str) -> str:
    spec = importlib.util.find_spec(f"{module}.__main__") if _is_package(module) else None
    spec = spec or importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text()


def _is_package(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    return spec is not None and spec.submodule_search_locations is not None


def complaints(words: list[str]) -> Iterator[str]:
    """Say all that is wrong with one simple command."""
    arguments = headrace_arguments(words)
    found: str | None = None
    if words[0] == "make":
        found = make_complaint(words)
    elif words[0] == "pytest" or (words[0].rpartition("/")[2] == "python" and "-m" in words):
        found = python_complaint(words)
    elif arguments:
        found = complaint(arguments)
    if found:
        yield f"{shlex.join(words)}: {found}"


@cache
def settings() -> frozenset[str]:
    """Every name of a setting that a node or topic knows, or is known to ignore."""
    return frozenset(
        [
            *SERVER_KEYS,
            *(name for key in SERVER_KEYS.values() for name in key.also_named),
            *TOPIC_CONFIGS,
            *(name for names in IGNORED.values() for name in names),
        ]
    )
