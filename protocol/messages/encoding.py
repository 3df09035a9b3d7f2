"""Encodes messages piece by piece, with the encoders of the message classes.

An answer may have a hundred thousand elements, which takes a part of a second. So encoding is a generator that stops
after some of them; who encodes on an event loop lets others run there. What is encoded is cut off in pieces: a large
answer is never copied as a whole, and no buffer of its size is kept.

`steps` of an array of structs goes element by element, through arrays inside of elements as well. An element without
arrays of structs is encoded by one call.

An element of 20 bytes takes 300 as an object. So those of an array that may be long are made when they are encoded, and
freed at once: `MadeWhenEncoded`.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cache
from struct import Struct
from typing import Any, Final, NamedTuple

from kafka.protocol.schemas.fields.codecs import EncodeBuffer

from headrace.loop_steps import freed
from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import encode_uvarint

# What librdkafka accepts by default (`receive.message.max.bytes`).
MAX_ANSWER_BYTES: Final = 100_000_000
STEP_ELEMENTS: Final = 256  # about a millisecond
FREED_AT_ONCE: Final = 32  # elements, which may have some dozens of their own
PIECE_BYTES: Final = 128 * 1024  # a piece is cut off at the first element that ends beyond it
_FIRST_BUFFER_BYTES: Final = 512
_INT32: Final = Struct(">i")


class AnswerTooLargeError(ProtocolError):
    """An answer would exceed its bound."""


class EncodedElement(bytes):
    """An element of an array of structs that has been encoded before, for the version of the message."""

    __slots__ = ()


class MadeWhenEncoded:
    """An array of structs that are made one by one, when they are encoded."""

    __slots__ = ("_make", "_sources")

    def __init__(self, make: Callable[..., Any], *sources: Sequence[Any]) -> None:
        """Call `make` with the first item of each source, the second, ...; the sources must not change."""
        self._make = make
        self._sources = sources

    def __len__(self) -> int:
        return len(self._sources[0])

    def __iter__(self) -> Iterator[Any]:
        return map(self._make, *self._sources)


class _Output:
    """What has been encoded of one message."""

    __slots__ = ("buffer", "elements_of_step", "max_bytes", "pieces", "size_bytes")

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.pieces: list[bytes] = []
        self.size_bytes = 0  # of the pieces
        self.elements_of_step = 0
        self.buffer = EncodeBuffer(_FIRST_BUFFER_BYTES)

    def cut(self) -> None:
        """Make a piece of what is in the buffer."""
        buffer = self.buffer
        self.pieces.append(bytes(memoryview(buffer.buf)[: buffer.pos]))
        self.size_bytes += buffer.pos
        buffer.pos = 0

    def add(self, encoded: EncodedElement) -> None:
        """Add what has been encoded before; a large one becomes a piece as it is."""
        buffer, size_bytes = self.buffer, len(encoded)
        if size_bytes >= PIECE_BYTES:
            self.cut()
            self.pieces.append(encoded)
            self.size_bytes += size_bytes
            return
        end = buffer.pos + size_bytes
        buffer.ensure(size_bytes)
        buffer.buf[buffer.pos : end] = encoded
        buffer.pos = end

    def element_ended(self) -> bool:
        """Count an element; True at the end of a step.

        Raises:
            AnswerTooLargeError: there is no room for it.
        """
        position = self.buffer.pos
        if self.size_bytes + position > self.max_bytes:
            raise AnswerTooLargeError(f"the answer exceeds {self.max_bytes} bytes")
        if position >= PIECE_BYTES:
            self.cut()
        self.elements_of_step += 1
        if self.elements_of_step < STEP_ELEMENTS:
            return False
        self.elements_of_step = 0
        return True


def steps(
    message: Any, version: int, header: bytes, max_bytes: int = MAX_ANSWER_BYTES
) -> Generator[None, None, list[bytes]]:
    """Encode a message behind its header; return the pieces.

    Raises:
        AnswerTooLargeError: it would exceed `max_bytes`.
    """
    output = _Output(max_bytes)
    output.buffer.ensure(len(header))
    output.buffer.buf[: len(header)] = header
    output.buffer.pos = len(header)
    message_class: Any = type(message)
    yield from _struct(_plan_of(message_class, version), message, output)
    output.cut()
    return output.pieces


def free_steps(message: Any) -> Generator[None, None, None]:
    """Free the elements of a message that nobody needs any more, in steps; small arrays stay as they are.

    An answer may have some hundred thousand objects: to free them at once takes tens of milliseconds.
    """
    for name in type(message)._struct.fields:  # noqa: SLF001 - as `_plan_of`
        items = getattr(message, name, None)
        if isinstance(items, list) and len(items) > STEP_ELEMENTS:
            yield from freed(items, FREED_AT_ONCE)


def element_steps(
    message_class: Any, field_name: str, item: Any, version: int
) -> Generator[None, None, EncodedElement]:
    """Encode one element of an array of structs; `steps` takes it in place of the element."""
    plan = next(
        elements
        for field, elements in _plan_of(message_class, version).fields
        if field.name == field_name and elements is not None
    )
    output = _Output(MAX_ANSWER_BYTES)
    yield from _struct(plan, item, output)
    output.cut()
    return EncodedElement(b"".join(output.pieces))


class _Plan(NamedTuple):
    """How a struct is encoded in one version: at once, or field by field."""

    at_once: Callable[[Any, EncodeBuffer], None] | None
    fields: list[
        tuple[Any, "_Plan | None"]
    ]  # with the plan of its elements, for an array of structs
    tagged: Any
    options: dict[str, Any]  # of each other field's encoder
    version: int
    flexible: bool


@cache
def _plan_of(message_class: Any, version: int) -> _Plan:
    schema = message_class._struct  # noqa: SLF001 - the library gives no other way to its schema
    return _plan(schema, version, flexible=message_class.flexible_version_q(version))


def _plan(schema: Any, version: int, *, flexible: bool) -> _Plan:
    fields = [
        (
            field,
            _plan(field.array_of, version, flexible=flexible) if field.is_struct_array() else None,
        )
        for field in schema.untagged_fields(version)
    ]
    at_once = None
    if all(elements is None for _, elements in fields):
        at_once = schema.compiled_encode_into(version, compact=flexible, tagged=flexible)
    options = {"version": version, "compact": flexible, "tagged": flexible}
    return _Plan(at_once, fields, schema.tagged_fields(version), options, version, flexible)


def _struct(plan: _Plan, item: Any, output: _Output) -> Generator[None, None, None]:
    buffer = output.buffer
    if plan.at_once is not None:
        plan.at_once(item, buffer)
        return
    for field, elements in plan.fields:
        value = getattr(item, field.name)
        if elements is not None and (value or type(value) is MadeWhenEncoded):
            _encode_count(len(value), buffer, flexible=plan.flexible)
            yield from _elements(elements, value, output)
        else:
            field.encode_into(value, buffer, **plan.options)
    if plan.flexible:
        plan.tagged.encode_into(item, buffer, version=plan.version)


def _elements(plan: _Plan, items: Any, output: _Output) -> Generator[None, None, None]:
    at_once, buffer = plan.at_once, output.buffer
    for item in items:
        if type(item) is EncodedElement:
            output.add(item)
        elif at_once is not None:
            at_once(item, buffer)
        else:
            yield from _struct(plan, item, output)
        if output.element_ended():
            yield


def _encode_count(count: int, buffer: EncodeBuffer, *, flexible: bool) -> None:
    encoded = encode_uvarint(count + 1) if flexible else _INT32.pack(count)
    end = buffer.pos + len(encoded)
    buffer.ensure(len(encoded))
    buffer.buf[buffer.pos : end] = encoded
    buffer.pos = end
