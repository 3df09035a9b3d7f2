"""`headrace config`: check a configuration before it is used, and explain its keys."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, emit_rows, talk

if TYPE_CHECKING:
    from headrace.config.definition import ConfigKey
    from headrace.config.topic_keys import TopicConfig


@click.group()
def config() -> None:
    """Check and explain configuration."""


@config.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--override", "overrides", multiple=True, metavar="KEY=VALUE", help="Beats the file.")
@click.option("--all", "show_all", is_flag=True, help="Also settings that have their default.")
@output_option
def check(*, file: Path | None, overrides: tuple[str, ...], show_all: bool, output: str) -> None:
    """Check a properties file, with the environment, as `headrace server` would read it.

    Shows the values that would be used and where each was set. All problems are listed at once.
    """
    from headrace.broker.cli.node.serving import configuration_failure
    from headrace.config.load import load
    from headrace.config.problems import ConfigError
    from headrace.config.server_keys import SERVER_KEYS, default_text

    try:
        loaded = load(file=file, overrides=overrides)
    except ConfigError as error:
        raise configuration_failure(error) from error
    for warning in loaded.warnings:
        talk(f"warning: {warning}")
    static = loaded.config.static
    rows = [
        {
            "key": name,
            "value": static.get(name, default_text(key)),
            "source": loaded.sources.get(name, "default"),
        }
        for name, key in sorted(SERVER_KEYS.items())
        if show_all or name in static
    ]
    emit_rows(rows, output=output)
    talk("The configuration is valid.")


@config.command()
@click.argument("key")
@output_option
def explain(key: str, output: str) -> None:
    """Explain a key of a node or of a topic."""
    from headrace.config.ignored_keys import reason_ignored
    from headrace.config.protection import asks_for
    from headrace.config.server_keys import SERVER_KEYS, find_key
    from headrace.config.suggest import nearest
    from headrace.config.topic_keys import TOPIC_CONFIGS

    server, topic = find_key(key), TOPIC_CONFIGS.get(key)
    if server is not None:
        emit_object(_explain_server(server), output=output)
    if topic is not None:
        emit_object(_explain_topic(topic), output=output)
    if server is None and topic is None:
        asked = asks_for(key, "anything")
        if asked is not None:
            talk(
                f"{key} is refused where its value asks for {asked}: this broker has no such thing"
            )
            return
        reason = reason_ignored(key)
        if reason is not None:
            talk(f"{key} is accepted but has no effect: {reason}")
            return
        close = nearest(key, (*SERVER_KEYS, *TOPIC_CONFIGS))
        raise CommandFailedError(
            f"there is no key {key}", hint=f"Did you mean {close}?" if close else ""
        )


def _explain_server(key: "ConfigKey") -> dict[str, object]:
    from headrace.config.server_keys import allowed_text, default_text

    return {
        "key": key.name,
        "of": "node",
        "meaning": key.doc,
        "allowed": allowed_text(key),
        "default": default_text(key),
        "example": f"{key.name}={key.example}" if key.example else "",
        "also_named": list(key.also_named),
    }


def _explain_topic(topic: "TopicConfig") -> dict[str, object]:
    from headrace.config.definition import describe_allowed

    return {
        "key": topic.name,
        "of": "topic",
        "meaning": topic.doc,
        "allowed": describe_allowed(topic.type, topic.valid),
        "default": topic.default,
        "default_set_by": [server.name for server in topic.server_keys],
    }
