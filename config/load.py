"""Settings from a properties file, the environment and the command line into a NodeConfig.

Later layers win: defaults, `base` (what a command such as `headrace dev` presets), the file, the
environment, overrides. Every problem of all layers is reported at once, with the source of the
value, what is allowed, and the key that was probably meant. This is the only reader of the
environment.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.config.assemble import Setting, assemble
from headrace.config.environment import settings_from
from headrace.config.ignored_keys import BUCKET_KEYS, bucket_uri_of, reason_ignored
from headrace.config.node import NodeConfig
from headrace.config.problems import ConfigError, Problem
from headrace.config.properties import PropertiesError, parse_properties
from headrace.config.protection import (
    asking_word,
    asks_for,
    listeners_named_secure,
    plain,
    plaintext_listeners,
    protection_of,
)
from headrace.config.server_keys import find_key, nearest_key

MAX_FILE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A valid configuration, what was odd about its sources, and where each value was set."""

    config: NodeConfig
    warnings: tuple[str, ...]
    sources: Mapping[str, str]  # main name of the key -> "server.properties:12", "--override" ...


def load(
    *,
    file: Path | None = None,
    overrides: Sequence[str] = (),
    base: Mapping[str, str] | None = None,
    base_source: str = "built in",
    environment: Mapping[str, str] | None = None,
) -> LoadedConfig:
    """Load a node's configuration.

    Args:
        file: a properties file; None for none.
        overrides: `key=value` texts, the strongest layer.
        base: presets, weaker than the file.
        base_source: how a problem with a preset names its source.
        environment: variables; None for those of this process.

    Raises:
        ConfigError: something is wrong; the error lists everything that is.
    """
    problems: list[Problem] = []
    warnings: list[str] = []
    given = [Setting(key, value, base_source) for key, value in (base or {}).items()]
    given += _from_file(file, problems, warnings) if file is not None else []
    variables = settings_from(os.environ if environment is None else environment)
    given += [Setting(v.key, v.value, v.name) for v in variables]
    given += _from_overrides(overrides, problems)
    problems += _unprotected(given)
    settings = _known(given, warnings)
    problems += _bucket_named_otherwise(given, settings, base_source)
    assembled = assemble(settings, problems, warnings)
    if problems or assembled is None:
        raise ConfigError(problems)
    sources = {name: setting.source for name, setting in settings.items()}
    return LoadedConfig(assembled, tuple(warnings), sources)


def _from_file(path: Path, problems: list[Problem], warnings: list[str]) -> list[Setting]:
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            problems.append(Problem(f"larger than {MAX_FILE_BYTES} bytes", source=str(path)))
            return []
        properties = parse_properties(raw.decode())
    except OSError as error:
        problems.append(Problem(f"cannot be read: {error.strerror}", source=str(path)))
        return []
    except UnicodeDecodeError:
        problems.append(Problem("is not UTF-8 text", source=str(path)))
        return []
    except PropertiesError as error:
        problems.append(Problem(str(error), source=f"{path}:{error.line}"))
        return []
    lines: dict[str, int] = {}
    for key, _, line in properties:
        if key in lines:
            warnings.append(
                f"{path}:{line}: {key} was already set in line {lines[key]}; this line is used"
            )
        lines[key] = line
    return [Setting(key, value, f"{path}:{line}") for key, value, line in properties]


def _from_overrides(overrides: Sequence[str], problems: list[Problem]) -> list[Setting]:
    settings = []
    for text in overrides:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            problems.append(
                Problem(
                    f"{'***' if asking_word(text) else repr(text)} is not key=value",
                    source="--override",
                    example="--override num.partitions=3",
                )
            )
            continue
        settings.append(Setting(key.strip(), value.strip(), "--override"))
    return settings


def _known(given: Iterable[Setting], warnings: list[str]) -> dict[str, Setting]:
    """Keep the strongest setting of each key that we act on, by its main name."""
    settings: dict[str, Setting] = {}
    strongest = {setting.key: setting for setting in given}  # the last one wins
    for setting in strongest.values():
        key = find_key(setting.key)
        if key is None:
            warnings.append(_explain_unused(setting))
        elif setting.key == key.name or key.name not in settings:
            settings[key.name] = setting
    return settings


def _unprotected(given: Iterable[Setting]) -> Iterator[Problem]:
    """Refuse what asks for protection in any layer: a stronger one may be the image's own."""
    given = list(given)
    maps = [it.value for it in given if plain(it.key) == "listener.security.protocol.map"]
    plaintext = plaintext_listeners(maps[-1] if maps else "")
    for setting in given:
        known = protection_of(setting.key)
        asked = None
        if known is not None or find_key(setting.key) is None:
            asked = asks_for(setting.key, setting.value)
        if not asked:
            names = listeners_named_secure(setting.key, setting.value, plaintext)
            if names:
                asked = (
                    f"encryption or authentication by a name ({', '.join(names)}) to which "
                    "listener.security.protocol.map gives no protocol"
                )
        if asked:
            yield Problem(
                f"asks for {asked}, which this broker does not support yet; it does not start "
                "without it. Remove it only if everybody who can reach the listeners may do "
                "everything",
                key=setting.key,
                value=setting.value if known and known.shows_value else None,  # it may be a secret
                source=setting.source,
            )


def _bucket_named_otherwise(
    given: Iterable[Setting], settings: Mapping[str, Setting], base_source: str
) -> Iterator[Problem]:
    """Refuse a bucket that is named by other keys only: data would go to the default, a directory."""
    chosen = settings.get("s3.data.buckets")
    if chosen is not None and chosen.source != base_source:
        return
    named = {it.key: it for it in given if it.key in BUCKET_KEYS and it.value.strip()}
    if named:
        first = next(iter(named.values()))
        example = bucket_uri_of({key: it.value.strip() for key, it in named.items()})
        yield Problem(
            "does not say where the data is stored; only s3.data.buckets does, which is not set",
            key=first.key,
            value=first.value,
            source=first.source,
            example=f"s3.data.buckets={example}",
        )


def _explain_unused(setting: Setting) -> str:
    reason = reason_ignored(setting.key)
    if reason is not None:
        return f"{setting.source}: {setting.key} is accepted but has no effect: {reason}"
    close = nearest_key(setting.key)
    hint = f"; did you mean {close}?" if close else ""
    return f"{setting.source}: {setting.key} is not a known key{hint}"
