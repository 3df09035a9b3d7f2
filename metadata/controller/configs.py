"""Decisions about config overrides of topics and brokers. Pure.

Source: ConfigurationControlManager.java; KIP-339 for the operations.
"""

from collections.abc import Callable, Mapping
from typing import Final

from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.metadata.controller.decision import ConfigRules, ConfigValidator, Decision, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.configs import BROKER_RESOURCE, NO_OVERRIDES, TOPIC_RESOURCE
from headrace.metadata.images.draining import is_drained
from headrace.metadata.images.logs import about_to_end
from headrace.metadata.levels import MOVES_LEVEL, SETTINGS_LEVEL, level_of
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.topics import ConfigRecord
from headrace.metadata.rpc.requests import AlterConfigs, ConfigChange, ConfigOp
from headrace.metadata.rpc.responses import Done
from headrace.metadata.topic_names import topic_name_problem
from headrace.protocol.errors import ErrorCode

MAX_VALUE_LENGTH: Final = 32_767  # Short.MAX_VALUE, as in Kafka


def alter_configs(request: AlterConfigs, image: MetadataImage, inputs: Inputs) -> Decision:
    """Change the configs of one resource, all or none; a value that is already set needs no record."""
    validate = _validator(request.resource_type, inputs.configs)
    is_topic = request.resource_type == TOPIC_RESOURCE
    wrong = ErrorCode.INVALID_CONFIG if is_topic else ErrorCode.INVALID_REQUEST  # as in Kafka
    if not is_topic:
        _require_broker(request.resource_name, image)
    resource = (request.resource_type, request.resource_name)
    old = image.configs.get(resource, NO_OVERRIDES)
    new = _changed(old, request.changes, inputs.configs)
    if is_topic:
        _require_topic_name(request.resource_name)
    records: list[MetadataRecord] = []
    for key, value in new.items():
        if value == old.get(key):
            continue
        if value is not None:
            check_config(validate, key, value, wrong)
            if (request.resource_type, key, value) == (BROKER_RESOURCE, DRAIN_KEY, "true"):
                _require_drainable(request.resource_name, image)
            elif not is_topic and key != DRAIN_KEY:
                _require_followed(image)
        records.append(ConfigRecord(*resource, key, value))
    if is_topic and records:
        merged = {**old, **new}
        overrides = {key: value for key, value in merged.items() if value is not None}
        require_no_contradiction(inputs.configs, overrides)
    if is_topic and request.resource_name not in image.topic_ids:  # last, as in Kafka
        raise RefusedError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            f"there is no topic named {request.resource_name}",
        )
    return Decision(() if request.validate_only else tuple(records), Done())


def check_config(
    validate: ConfigValidator,
    key: str,
    value: str,
    wrong: ErrorCode = ErrorCode.INVALID_CONFIG,
) -> None:
    """Refuse a value that may not be set.

    Raises:
        RefusedError: the error `wrong` with the reason.
    """
    if len(value) > MAX_VALUE_LENGTH:
        raise RefusedError(
            wrong,
            f"the value of {key} has {len(value)} characters, at most {MAX_VALUE_LENGTH} are allowed",
        )
    problem = validate(key, value)
    if problem is not None:
        raise RefusedError(wrong, problem)


def require_no_contradiction(rules: ConfigRules, overrides: Mapping[str, str]) -> None:
    """Refuse configs of a topic that do not go together.

    Raises:
        RefusedError: INVALID_CONFIG with the reason.
    """
    problem = rules.contradiction(overrides)
    if problem is not None:
        raise RefusedError(ErrorCode.INVALID_CONFIG, problem)


def _validator(resource_type: int, rules: ConfigRules) -> ConfigValidator:
    if resource_type == TOPIC_RESOURCE:
        return rules.validate_topic
    if resource_type == BROKER_RESOURCE:
        return rules.validate_broker
    raise RefusedError(
        ErrorCode.INVALID_REQUEST, f"resources of type {resource_type} have no configs"
    )


def _require_topic_name(name: str) -> None:
    if not name:
        raise RefusedError(ErrorCode.INVALID_REQUEST, "there are no defaults of all topics")
    problem = topic_name_problem(name)
    if problem is not None:
        raise RefusedError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)


def _require_broker(name: str, image: MetadataImage) -> None:
    if not name:
        return  # the empty name: the default of all brokers
    if not (name.isascii() and name.isdigit()):
        raise RefusedError(ErrorCode.INVALID_REQUEST, f"{name!r} is not a broker id")
    if int(name) not in image.brokers:
        raise RefusedError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"broker {name} is not registered")


def _require_drainable(name: str, image: MetadataImage) -> None:
    """Refuse to drain a broker whose partitions no other broker could take."""
    if not name:
        raise RefusedError(ErrorCode.INVALID_REQUEST, "brokers are drained one by one, by their id")
    if level_of(image.features) < MOVES_LEVEL:
        raise RefusedError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"brokers are drained from level {MOVES_LEVEL} on: run `headrace cluster upgrade`",
        )
    ending = about_to_end(image.brokers, image.logs)
    others = [it for it in image.brokers.values() if not it.fenced and it.node_id != int(name)]
    if all(it.node_id in ending or is_drained(image.configs, it.node_id) for it in others):
        raise RefusedError(
            ErrorCode.INVALID_REQUEST,
            f"no broker could take the partitions of broker {name}: each other one is fenced, about to end, or drained",
        )


def _require_followed(image: MetadataImage) -> None:
    """Refuse a setting that brokers of an earlier release would not apply."""
    if level_of(image.features) < SETTINGS_LEVEL:
        raise RefusedError(
            ErrorCode.UNSUPPORTED_VERSION,
            f"settings of brokers change from level {SETTINGS_LEVEL} on: run `headrace cluster upgrade`",
        )


def _changed(
    old: Mapping[str, str], changes: tuple[ConfigChange, ...], rules: ConfigRules
) -> dict[str, str | None]:
    """New values of the named configs; None: back to the default."""
    _require_well_formed(changes)
    return {
        change.key: None
        if change.op == ConfigOp.DELETE or change.value is None
        else _operated(old.get(change.key), change, change.value, rules)
        for change in changes
    }


def _require_well_formed(changes: tuple[ConfigChange, ...]) -> None:
    """Refuse what no config could have; Kafka looks at all of it before the first config."""
    seen = set()
    for change in changes:
        if not change.key or change.key in seen:
            raise RefusedError(
                ErrorCode.INVALID_REQUEST, f"config name {change.key!r} is empty or given twice"
            )
        seen.add(change.key)
    for change in changes:
        if change.op not in _OPERATIONS:
            raise RefusedError(ErrorCode.INVALID_REQUEST, f"unknown config operation {change.op}")
        if change.op != ConfigOp.DELETE and change.value is None:
            raise RefusedError(
                ErrorCode.INVALID_REQUEST, f"config {change.key} has no value to set"
            )


def _operated(old: str | None, change: ConfigChange, value: str, rules: ConfigRules) -> str:
    if change.op == ConfigOp.SET:
        return value
    default = rules.list_defaults.get(change.key)
    if default is None:
        raise RefusedError(
            ErrorCode.INVALID_CONFIG,
            f"cannot append to or subtract from {change.key}: it is not a list",
        )
    current = _parts(default if old is None else old)
    return ",".join(_LIST_OPERATIONS[change.op](current, _parts(value)))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _appended(current: list[str], parts: list[str]) -> list[str]:
    return current + [part for part in dict.fromkeys(parts) if part not in current]


def _subtracted(current: list[str], parts: list[str]) -> list[str]:
    return [part for part in current if part not in parts]


_LIST_OPERATIONS: Final[Mapping[int, Callable[[list[str], list[str]], list[str]]]] = {
    ConfigOp.APPEND: _appended,
    ConfigOp.SUBTRACT: _subtracted,
}
_OPERATIONS: Final = {ConfigOp.SET, ConfigOp.DELETE, *_LIST_OPERATIONS}
