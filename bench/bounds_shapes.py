"""Requests of every shape that the schemas allow: each array long, and each array of arrays as many short ones.

They are made from the generated classes, so a new API has its cases. What changes something only validates, or names
what does not exist. A request of more elements than its API takes ends its connection.
"""

import typing
from collections.abc import Collection, Iterator
from functools import cache, partial
from types import NoneType
from typing import Any, Final
from uuid import UUID

import msgspec

from bench.bounds import Case
from headrace.broker.api.registry import FIRST_KEYS, LATER_KEYS
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from headrace.protocol.headers import RequestHeader
from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.messages.codec import MAX_ELEMENTS
from headrace.protocol.messages.registry import REQUESTS

LONG: Final = 60_000  # elements
FEW: Final = 3
TIMEOUT_MS: Final = 1_000
_BY_NAME: Final = {
    "validate_only": True,
    "timeout_ms": TIMEOUT_MS,
    "max_wait_ms": 0,
    "key_type": 0,
    "resource_type": 2,
    "port": 1,
}


def shape_cases(elements: int = LONG) -> Iterator[Case]:
    """Give the cases of all keys that a broker serves, with so many elements if they may have as many."""
    for key in sorted({*FIRST_KEYS, *LATER_KEYS}):
        for path in _arrays(REQUESTS[key]):
            yield Case(f"{key.name}: {'.'.join(path)}", partial(_frame, key, path, elements))


_hints = cache(typing.get_type_hints)


def _frame(key: ApiKey, path: tuple[str, ...], elements: int) -> bytes:
    most = min(elements, MAX_ELEMENTS.get(key, elements)) - len(path)
    last = [most] if len(path) == 1 else [most // (FEW + 1), FEW]
    counts = [1] * (len(path) - len(last)) + last
    request = _made(REQUESTS[key], dict(zip(path, counts, strict=True)), 0)
    payload = messages.encode_request(request, RequestHeader(key, VERSIONS[key].max_version, 1, ""))
    return len(payload).to_bytes(4, "big") + payload


def _arrays(struct: type[KafkaMessage], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give the path of each array of a struct, and of those within them."""
    for name, hint in _hints(struct).items():
        element = _element(hint)
        if element is None:
            continue
        yield (*before, name)
        if isinstance(element, type) and issubclass(element, msgspec.Struct):
            yield from _arrays(element, (*before, name))  # type: ignore[type-var]


def _element(hint: Any) -> Any:
    """Give the type of an array's elements; None for what is no array."""
    for option in typing.get_args(hint) if _is_union(hint) else (hint,):
        if typing.get_origin(option) in (list, Collection):
            return next(it for it in _options(typing.get_args(option)[0]) if it is not NoneType)
    return None


def _is_union(hint: Any) -> bool:
    return NoneType in typing.get_args(hint)


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) is not list and typing.get_args(hint) else (hint,)  # fmt: skip


def _made(struct: type[Any], counts: dict[str, int], number: int) -> Any:
    """Make a struct whose arrays have so many elements, or one; names and numbers are distinct."""
    fields: dict[str, object] = {}
    for name, hint in _hints(struct).items():
        if name not in struct.__struct_fields__:
            continue
        element = _element(hint)
        if element is not None:
            count = counts.get(name, 0)
            fields[name] = [_value("", element, counts, it) for it in range(count)]
        elif name in _BY_NAME:
            fields[name] = _BY_NAME[name]
        else:
            fields[name] = _value(name, hint, counts, number)
    return struct(**fields)


def _value(name: str, hint: Any, counts: dict[str, int], number: int) -> object:
    options = _options(hint)
    if str in options:
        return f"n{number}"
    if bytes in options:
        return b""
    if bool in options:
        return False
    if int in options:
        return (
            number if name.endswith(("index", "id", "partition", "partitions")) or not name else -1
        )
    if float in options:
        return 0.0
    if UUID in options:
        return UUID(int=number + 1)
    struct = next(it for it in options if isinstance(it, type) and issubclass(it, msgspec.Struct))
    return None if NoneType in options else _made(struct, counts, number)
