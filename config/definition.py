"""What a setting is: its type, its allowed values, its description, and what it sets. Pure.

The tables in `headrace.config.topic_keys`, `headrace.config.server_keys` and `headrace.config.ignored_keys` are made of
these. One definition serves start-up validation, CreateTopics and AlterConfigs, DescribeConfigs,
and the generated documentation.

Source: the type codes are those of DescribeConfigsResponse (Kafka protocol, KIP-569).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol

LONG_MAX = 2**63 - 1
INT_MAX = 2**31 - 1

ConfigValue = bool | int | float | str | tuple[str, ...]


class ConfigType(IntEnum):
    """Type of a value, with its code in DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSource(IntEnum):
    """Where a value comes from, with its code in DescribeConfigs."""

    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_LOGGER = 6
    DYNAMIC_CLIENT_METRICS = 7
    DYNAMIC_GROUP = 8


class Importance(Enum):
    """How likely an operator needs the key; the documentation is sorted by it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Valid(Protocol):
    """The set of values that a key accepts, beyond what its type says."""

    def problem(self, value: ConfigValue) -> str | None:
        """Say what is wrong with a parsed value, or None."""

    def describe(self) -> str:
        """Name the set for a human; empty when the type says it all."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Every value of the type."""

    def problem(self, value: ConfigValue) -> str | None:  # noqa: ARG002 - the port's signature
        """Accept."""
        return None

    def describe(self) -> str:
        """Nothing to add."""
        return ""


@dataclass(frozen=True, slots=True)
class Between:
    """A number between two inclusive bounds; a bound that is None is open."""

    low: float | None = None
    high: float | None = None

    def problem(self, value: ConfigValue) -> str | None:
        """Compare with both bounds."""
        assert isinstance(value, int | float)
        if (self.low is not None and value < self.low) or (
            self.high is not None and value > self.high
        ):
            return f"must be {self.describe()}"
        return None

    def describe(self) -> str:
        """Write the interval."""
        if self.high is None:
            return f"at least {self.low}"
        if self.low is None:
            return f"at most {self.high}"
        return f"between {self.low} and {self.high}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few words, compared exactly."""

    words: tuple[str, ...]

    def problem(self, value: ConfigValue) -> str | None:
        """Look the word up."""
        return None if value in self.words else f"must be {self.describe()}"

    def describe(self) -> str:
        """List the words."""
        return "one of " + ", ".join(self.words)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of a few words, each at most once; it may be empty unless `empty` is False."""

    words: tuple[str, ...]
    empty: bool = True

    def problem(self, value: ConfigValue) -> str | None:
        """Check each word, duplicates and emptiness."""
        assert isinstance(value, tuple)
        if len(set(value)) != len(value):
            return "must not repeat a value"
        if not value and not self.empty:
            return "must not be empty"
        if any(word not in self.words for word in value):
            return f"must be {self.describe()}"
        return None

    def describe(self) -> str:
        """List the words."""
        return "a comma-separated list of " + ", ".join(self.words)


@dataclass(frozen=True, slots=True)
class Matches:
    """What a function accepts; it returns a problem or None."""

    description: str
    check: Callable[[ConfigValue], str | None]

    def problem(self, value: ConfigValue) -> str | None:
        """Ask the function."""
        return self.check(value)

    def describe(self) -> str:
        """Give the description."""
        return self.description


ANYTHING = Anything()

FieldValues = Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One server-level setting, read at the start; `headrace.config.dynamic_keys` has those that change later.

    At most one of `field`, `fields` and `topic_config` says what the key sets: a field of
    NodeConfig (times `scale`), several fields computed from the text, or the broker-wide default
    of a topic-level key.
    """

    name: str
    type: ConfigType
    doc: str
    valid: Valid = ANYTHING
    field: str = ""  # path in NodeConfig, such as "wal.io_timeout_ms"
    scale: int = 1  # units of the field in one unit of the key: 60_000 for minutes in a _ms field
    fields: Callable[[str], FieldValues] | None = None  # raises ValueError with what is wrong
    topic_config: str = ""  # topic-level name, such as "retention.ms"
    default_text: str | None = None  # only where it cannot be read from the field's own default
    also_named: tuple[str, ...] = ()  # other names for the same setting; the main name beats them
    sensitive: bool = False
    importance: Importance = Importance.MEDIUM
    example: str = ""


def parse_value(config_type: ConfigType, text: str) -> ConfigValue:
    """Read a value as Kafka reads it: surrounding blanks do not count, booleans ignore case.

    Raises:
        ValueError: the text is not of the type; the message completes "<key> ...".
    """
    stripped = text.strip()
    match config_type:
        case ConfigType.BOOLEAN:
            if stripped.lower() not in ("true", "false"):
                raise ValueError("must be true or false")
            return stripped.lower() == "true"
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            return _parse_integer(config_type, stripped)
        case ConfigType.DOUBLE:
            return _parse_double(stripped)
        case ConfigType.LIST:
            return tuple(part.strip() for part in stripped.split(",")) if stripped else ()
        case ConfigType.STRING | ConfigType.CLASS | ConfigType.PASSWORD:
            return stripped


def _parse_integer(config_type: ConfigType, text: str) -> int:
    low, high = INTEGER_LIMITS[config_type]
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 20:
        raise ValueError("must be a whole number, without a unit")
    value = int(text)
    if not low <= value <= high:
        raise ValueError(f"must fit in {low} to {high}")
    return value


INTEGER_LIMITS = {
    ConfigType.SHORT: (-(2**15), 2**15 - 1),
    ConfigType.INT: (-(2**31), INT_MAX),
    ConfigType.LONG: (-LONG_MAX - 1, LONG_MAX),
}


def _parse_double(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("must be a number") from None
    if not math.isfinite(value):
        raise ValueError("must be a finite number")
    return value


def problem_with(config_type: ConfigType, valid: Valid, text: str) -> str | None:
    """Say what is wrong with a text as a value of this type and set, or None."""
    try:
        value = parse_value(config_type, text)
    except ValueError as error:
        return str(error)
    return valid.problem(value)


def format_value(value: object) -> str:
    """Write a value of a NodeConfig field the way a properties file has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(str(part) for part in value)
    return str(value)


def describe_allowed(config_type: ConfigType, valid: Valid) -> str:
    """Name type and range in a few words, such as "integer, at least 1"."""
    words = {
        ConfigType.BOOLEAN: "true or false",
        ConfigType.INT: "integer",
        ConfigType.SHORT: "integer",
        ConfigType.LONG: "integer",
        ConfigType.DOUBLE: "number",
        ConfigType.LIST: "list",
        ConfigType.STRING: "text",
        ConfigType.CLASS: "class name",
        ConfigType.PASSWORD: "secret",
    }[config_type]
    extra = valid.describe()
    return f"{words}, {extra}" if extra else words
