"""What a Dockerfile says of the container that runs: its environment, program and health check."""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Image:
    """The last stage of a Dockerfile."""

    environment: dict[str, str] = field(default_factory=dict)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    healthcheck: list[str] = field(default_factory=list)
    user: str = "root"
    directory: str = "/"
    stop_signal: str = "SIGTERM"
    volumes: list[str] = field(default_factory=list)


def instructions(path: Path) -> list[tuple[str, str]]:
    """Return the instructions with their arguments, in order; comments are left out."""
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    pairs = (line.split(maxsplit=1) for line in joined.splitlines() if line.strip())
    return [(pair[0].upper(), pair[1] if len(pair) > 1 else "") for pair in pairs]


def read_image(path: Path) -> Image:
    """Read the last stage."""
    image = Image()
    for name, argument in instructions(path):
        match name:
            case "FROM":
                image = Image()
            case "ENV":
                pairs = (word.partition("=") for word in shlex.split(argument))
                image.environment |= {key: value for key, _, value in pairs}
            case "ENTRYPOINT":
                image.entrypoint = _words(argument)
            case "CMD":
                image.command = _words(argument)
            case "HEALTHCHECK":
                image.healthcheck = _words(argument.partition("CMD")[2])
            case "USER":
                image.user = argument
            case "WORKDIR":
                image.directory = argument
            case "STOPSIGNAL":
                image.stop_signal = argument
            case "VOLUME":
                image.volumes = _words(argument)
    return image


def _words(argument: str) -> list[str]:
    words: Any = json.loads(argument)  # the exec form is JSON; the shell form is not used
    return [str(word) for word in words]
