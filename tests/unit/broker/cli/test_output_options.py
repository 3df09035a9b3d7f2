"""-o json and --json: the same, and on every command that has a result."""

import json

import click
import pytest

from headrace.broker.cli.root import run
from tests.unit.broker.cli.command_tree import command_at, results

# They run until they are stopped, and have no result.
WITHOUT_RESULT = {("dev",), ("pipeline", "run"), ("server",)}
COMMANDS = sorted(set(results()) - WITHOUT_RESULT)


def sample(parameter, directory):
    """A value that the parameter takes."""
    kind = parameter.type
    if isinstance(kind, click.Path):
        if kind.dir_okay:
            return str(directory)
        (directory / "file").touch()
        return str(directory / "file")
    if isinstance(kind, click.Choice):
        return kind.choices[0]
    return "1" if parameter.required else None


def required(path, directory):
    """Arguments without which the command is not even parsed."""
    words = []
    for parameter in command_at(path).params:
        if not parameter.required:
            continue
        if isinstance(parameter, click.Option):
            words.append(parameter.opts[0])
        words.append(sample(parameter, directory))
    return words


def parsed(path, arguments):
    """What the command is called with."""
    with command_at(path).make_context(path[-1], list(arguments)) as context:
        return context.params


def test_there_are_commands():
    assert {("topic", "alter"), ("cluster", "quorum"), ("wal", "format")} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_command_has_both_forms(path):
    names = [name for it in command_at(path).params for name in it.opts if name.startswith("-")]
    assert {"-o", "--output", "--json"} <= set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("path", sorted(WITHOUT_RESULT), ids=" ".join)
def test_a_command_without_result_has_neither(path):
    names = {name for it in command_at(path).params for name in it.opts}
    assert names.isdisjoint({"-o", "--output", "--json"})


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_both_forms_call_the_command_alike(path, tmp_path):
    """What a command prints depends on nothing but its arguments."""
    others = required(path, tmp_path)
    by_output = parsed(path, [*others, "-o", "json"])
    assert by_output["output"] == "json"
    assert parsed(path, [*others, "--json"]) == by_output
    assert parsed(path, ["--json", *others, "--output", "json"]) == by_output
    default = parsed(path, others)
    assert default["output"] in ("table", "raw", "jsonl", "conf")
    assert default.keys() == by_output.keys()


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_both_forms_at_once_must_not_contradict_each_other(path, tmp_path):
    (kind,) = (it.type for it in command_at(path).params if it.name == "output")
    forms = kind.choices if isinstance(kind, click.Choice) else ["raw"]
    other = next(it for it in forms if it != "json")
    for arguments in (["--json", "-o", other], ["-o", other, "--json"]):
        with pytest.raises(click.UsageError, match="--json is --output json"):
            parsed(path, [*required(path, tmp_path), *arguments])


@pytest.mark.parametrize(
    "line",
    [
        "version",
        "config check --all",
        "config explain broker.id",
        "bucket ls {url}",
        "bucket ls {url} --long",
        "bucket cost {url}",
        "bucket fsck {url} --metadata {metadata}",
        "bucket gc {url} --metadata {metadata} --older-than 3650d",
        "object dump {url} 1",
        "object dump {url} 1 --records",
        "object verify {url} --all",
        "stream describe {url}",
        "metadata info {metadata}",
        "metadata dump {metadata}",
    ],
)
def test_both_forms_print_the_same_document(line, scene, capsys):
    words = line.format(url=scene.url, metadata=scene.metadata).split(" ")
    shown = []
    for form in (["--json"], ["-o", "json"], ["-o", "jsonl"]):
        assert run([*words, *form]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != ""
    assert documents(shown[2]) == documents(shown[0])


def documents(text):
    """The JSON documents in a text; a list counts as what it holds."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found += document if isinstance(document, list) else [document]
        text = text[end:]
    return found
