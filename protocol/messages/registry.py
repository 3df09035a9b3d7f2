"""The classes of each request key, found when they are first asked for, in the modules that define them.

To import all of them takes as long as the opening of many partitions.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from headrace.protocol import generated
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.message_class import KafkaMessage


def _schema_name(key: ApiKey) -> str:
    return "".join(word.capitalize() for word in key.name.split("_"))


class _Classes(Mapping[int, type[KafkaMessage]]):
    """Classes by key, of all keys that are spoken."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._loaded: dict[int, type[KafkaMessage]] = {}

    def __getitem__(self, api_key: int) -> type[KafkaMessage]:
        loaded = self._loaded.get(api_key)
        return self._load(api_key) if loaded is None else loaded

    def __iter__(self) -> Iterator[int]:
        return iter(VERSIONS)

    def __len__(self) -> int:
        return len(VERSIONS)

    def _load(self, api_key: int) -> type[KafkaMessage]:
        if api_key not in VERSIONS:
            raise KeyError(api_key)
        loaded: type[KafkaMessage] = getattr(
            generated, _schema_name(ApiKey(api_key)) + self._suffix
        )
        self._loaded[api_key] = loaded
        return loaded


REQUESTS: Final = _Classes("Request")
RESPONSES: Final = _Classes("Response")
