"""What is wrong with a configuration, all at once, with remedies. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.config.uris import redacted

_MAX_VALUE_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. Empty texts are left out of the message."""

    message: str
    key: str = ""
    value: str | None = None
    source: str = ""  # "server.properties:12", the name of a variable, "--override"
    allowed: str = ""
    example: str = ""

    def __str__(self) -> str:
        where = f"{self.source}: " if self.source else ""
        what = self.key
        if self.value is not None:
            shown = redacted(self.value)
            if len(shown) > _MAX_VALUE_LENGTH:
                shown = shown[:_MAX_VALUE_LENGTH] + "..."
            what += f"={shown}"
        lines = [f"{where}{what}: {self.message}" if what else f"{where}{self.message}"]
        for label, text in (
            ("allowed", self.allowed),
            ("example", self.example),
        ):
            if text:
                lines.append(f"    {label}: {text}")
        return "\n".join(lines)


class ConfigError(Exception):
    """The configuration cannot be used; `problems` has every reason."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
