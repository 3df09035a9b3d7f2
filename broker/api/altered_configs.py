"""What AlterConfigs and IncrementalAlterConfigs share: where configs of a resource are kept, and who changes them.

Those of topics and brokers are in the metadata, and the controller changes them. Levels of loggers are in the process
of one broker. Groups and client metrics have none.
"""

from collections.abc import Iterable, Sequence

from headrace.broker.network.request_context import RequestContext
from headrace.broker.telemetry import loggers
from headrace.metadata.follower.client import ConfigOp, ConfigOperation, MetadataClient
from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode, KafkaError

TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
MAX_CONFIGS = 1_000  # of one resource; there are fewer keys

_Outcome = tuple[ErrorCode, str | None]


class AlteredConfigs:
    """Changes the configs of one resource after the other."""

    def __init__(self, client: MetadataClient) -> None:
        self._client = client

    async def alter(
        self,
        resource_type: int,
        name: str,
        operations: Sequence[ConfigOperation],
        *,
        validate_only: bool,
    ) -> _Outcome:
        """Change the configs of one resource, all or none."""
        if len(operations) > MAX_CONFIGS:
            return TOO_MANY
        if resource_type in (TOPIC, BROKER):
            code, message = await self._client.alter_configs(
                resource_type, name, operations, validate_only=validate_only
            )
            return code, message and message[:MAX_MESSAGE_CHARACTERS]
        if resource_type != BROKER_LOGGER:
            return ErrorCode.INVALID_REQUEST, f"resources of type {resource_type} have no configs"
        try:
            self._alter_loggers(name, operations, validate_only=validate_only)
        except KafkaError as error:
            return error.code, (error.message or "")[:MAX_MESSAGE_CHARACTERS]
        return ErrorCode.NONE, None

    def _alter_loggers(
        self, name: str, operations: Sequence[ConfigOperation], *, validate_only: bool
    ) -> None:
        if name != str(self._client.node_id):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"broker {self._client.node_id} changes no loggers of broker {name!r}: send the request there",
            )
        levels: dict[str, str | None] = {}
        for it in operations:
            if it.key in levels:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"logger {it.key!r} is given twice")
            if it.op not in (ConfigOp.SET, ConfigOp.DELETE):
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, "a level is set or deleted, it is no list"
                )
            if it.op == ConfigOp.SET and it.value is None:
                raise KafkaError(
                    ErrorCode.INVALID_REQUEST, f"logger {it.key!r} has no level to set"
                )
            levels[it.key] = None if it.op == ConfigOp.DELETE else it.value
        for logger, level in levels.items():
            loggers.check(logger, level)
        if not validate_only:
            for logger, level in levels.items():
                loggers.set_level(logger, level)


async def repeated(
    context: RequestContext, resources: Iterable[tuple[int, str]]
) -> frozenset[tuple[int, str]]:
    """The resources that a request names more than once, by type and name."""
    seen: set[tuple[int, str]] = set()
    again: set[tuple[int, str]] = set()
    async for resource in context.turns.each(resources):
        (again if resource in seen else seen).add(resource)
    return frozenset(again)


# Before anything is made of them: a request may name 200,000.
TOO_MANY: _Outcome = (
    ErrorCode.INVALID_REQUEST,
    f"more than {MAX_CONFIGS} configs of one resource",
)
REPEATED: _Outcome = (ErrorCode.INVALID_REQUEST, "the request names this resource more than once")
