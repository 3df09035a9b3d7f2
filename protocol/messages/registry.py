"""The classes of each request key, found when they are first asked for, in the modules that define them.

To make all of them takes a tenth of a second, which a broker's first partition does not wait for.

An array field that is not set has the default of its schema, which is one list that all messages
share. Here it is replaced by a list that cannot be changed: an `append` to the shared list would
appear in every later response to any client.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final, NoReturn

from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS

_DEFINED_IN: Final[Mapping[str, tuple[ApiKey, ...]]] = {
    "kafka.protocol.metadata": (ApiKey.METADATA, ApiKey.FIND_COORDINATOR),
    "kafka.protocol.consumer": (
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.OFFSET_COMMIT,
        ApiKey.OFFSET_FETCH,
        ApiKey.JOIN_GROUP,
        ApiKey.HEARTBEAT,
        ApiKey.LEAVE_GROUP,
        ApiKey.SYNC_GROUP,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.OFFSET_DELETE,
    ),
    "kafka.protocol.producer": (
        ApiKey.PRODUCE,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.WRITE_TXN_MARKERS,
    ),
    "kafka.protocol.sasl": (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE),
    "headrace.protocol.messages.newer": (
        ApiKey.API_VERSIONS,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.DELETE_GROUPS,
    ),
    "headrace.protocol.messages.added": (
        ApiKey.UNREGISTER_BROKER,
        ApiKey.ADD_RAFT_VOTER,
        ApiKey.REMOVE_RAFT_VOTER,
    ),
}
_ALL_OTHERS_IN: Final = "kafka.protocol.admin"
_MODULE_OF: Final = {key: module for module, keys in _DEFINED_IN.items() for key in keys}


def _schema_name(key: ApiKey) -> str:
    return "".join(word.capitalize() for word in key.name.split("_"))


_KEY_OF: Final = {_schema_name(key): key for key in VERSIONS}


class _SharedDefault(list[Any]):
    """The empty list that is the default of array fields."""

    def _refuse(self, *_args: Any) -> NoReturn:
        raise TypeError("this list is the default of its field: set the field to a list instead")

    append = extend = insert = _refuse
    __iadd__ = __setitem__ = _refuse


def _protect_defaults(schema: Any) -> None:
    for field in schema.fields.values():
        if field.is_array() and field.default == []:
            field._default = _SharedDefault()  # noqa: SLF001 - where `field.default` keeps it
        if field.is_struct() or field.is_struct_array():
            _protect_defaults(field)


class _Classes(Mapping[int, Any]):
    """Classes by key, of all keys that are spoken. Without annotations: messages are checked by their codecs."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._loaded: dict[int, Any] = {}

    def __getitem__(self, api_key: int) -> Any:
        loaded = self._loaded.get(api_key)
        return self._load(api_key) if loaded is None else loaded

    def __iter__(self) -> Iterator[int]:
        return iter(VERSIONS)

    def __len__(self) -> int:
        return len(VERSIONS)

    def _load(self, api_key: int) -> Any:
        if api_key not in VERSIONS:
            raise KeyError(api_key)
        key = ApiKey(api_key)
        module = import_module(_MODULE_OF.get(key, _ALL_OTHERS_IN))
        loaded = getattr(module, _schema_name(key) + self._suffix)
        _protect_defaults(loaded._struct)  # noqa: SLF001 - the only way to the schema
        self._loaded[api_key] = loaded
        return loaded


REQUESTS: Final = _Classes("Request")
RESPONSES: Final = _Classes("Response")


def message_class(name: str) -> Any:
    """Return a class by its schema name.

    Raises:
        AttributeError: there is none.
    """
    for suffix, classes in (("Request", REQUESTS), ("Response", RESPONSES)):
        key = _KEY_OF.get(name.removesuffix(suffix)) if name.endswith(suffix) else None
        if key is not None:
            return classes[key]
    raise AttributeError(f"there is no message {name!r}")
