"""The message class of each request key, found in the modules that define them.

An array field that is not set has the default of its schema, which is one list that all messages
share. Here it is replaced by a list that cannot be changed: an `append` to the shared list would
appear in every later response to any client.
"""

from collections.abc import Iterator
from typing import Any, Final, NoReturn

from kafka.protocol import admin, consumer, metadata, producer, sasl

from headrace.protocol.messages import added


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


def _classes(kind: str) -> Iterator[tuple[int, Any]]:
    for module in (admin, consumer, metadata, producer, sasl, added):
        for name in module.__all__:
            member: Any = getattr(module, name)
            # The modules also export enums, constants and a raw SASL exchange, which is no message.
            if getattr(member, "type", None) == kind:
                _protect_defaults(member._struct)  # noqa: SLF001 - the only way to the schema
                yield member.API_KEY, member


# Classes without annotations: the fields of a message are checked when it is encoded or decoded.
REQUESTS: Final[dict[int, Any]] = dict(_classes("request"))
RESPONSES: Final[dict[int, Any]] = dict(_classes("response"))
