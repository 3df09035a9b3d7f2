"""Primitive types: known bytes, and every way in which a length can lie."""

from struct import Struct
from uuid import UUID

import pytest

from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import (
    MAX_ARRAY_ELEMENTS,
    MAX_TAGGED_FIELDS,
    Reader,
    check_array,
    encode_compact_string,
    encode_string,
    encode_tagged_field,
    encode_uvarint,
    read_compact_non_null,
    read_compact_string,
    read_uuid,
    read_uvarint,
    skip_tagged_fields,
)
from headrace.protocol.records.java_text import AS_JAVA

UVARINTS = {
    0: b"\x00",
    1: b"\x01",
    127: b"\x7f",
    128: b"\x80\x01",
    300: b"\xac\x02",
    16_383: b"\xff\x7f",
    16_384: b"\x80\x80\x01",
    2**32 - 1: b"\xff\xff\xff\xff\x0f",
}


@pytest.mark.parametrize(("value", "encoded"), UVARINTS.items())
def test_uvarint(value: int, encoded: bytes) -> None:
    assert encode_uvarint(value) == encoded
    assert read_uvarint(memoryview(b"?" + encoded + b"?"), 1) == (value, 1 + len(encoded))
    for cut in range(len(encoded)):
        with pytest.raises(ProtocolError):
            read_uvarint(memoryview(encoded[:cut]), 0)


@pytest.mark.parametrize(
    "encoded", [b"\x80\x80\x80\x80\x80\x01", b"\xff\xff\xff\xff\x10", b"\x80" * 1_000_000]
)
def test_uvarint_of_more_than_32_bits_is_refused(encoded: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_uvarint(memoryview(encoded), 0)


def test_tagged_fields_are_skipped_whatever_they_hold() -> None:
    fields = b"\x02" + encode_tagged_field(3, b"abc") + encode_tagged_field(200, b"")
    assert skip_tagged_fields(memoryview(fields + b"rest"), 0) == len(fields)
    for cut in range(len(fields)):
        with pytest.raises(ProtocolError):
            skip_tagged_fields(memoryview(fields[:cut]), 0)


@pytest.mark.parametrize("count", [MAX_TAGGED_FIELDS + 1, 5_000_000])
def test_a_struct_has_a_bounded_number_of_tagged_fields(count: int) -> None:
    allowed = memoryview(bytes((MAX_TAGGED_FIELDS,)) + b"\0\0" * MAX_TAGGED_FIELDS)
    assert skip_tagged_fields(allowed, 0) == len(allowed)
    assert Reader(allowed).tagged_fields({}) == {}
    too_many = memoryview(encode_uvarint(count) + b"\0\0" * (MAX_TAGGED_FIELDS + 1))
    with pytest.raises(ProtocolError, match=f"has {count} tagged fields"):
        skip_tagged_fields(too_many, 0)
    with pytest.raises(ProtocolError, match=f"has {count} tagged fields"):
        Reader(too_many).tagged_fields({})


def test_strings() -> None:
    assert encode_string("é") == b"\x00\x02\xc3\xa9"
    assert encode_string(None) == b"\xff\xff"
    assert encode_compact_string("é") == b"\x03\xc3\xa9"
    assert encode_compact_string(None) == b"\x00"
    data = memoryview(b"\x03\xc3\xa9\x00\x01")
    assert read_compact_string(data, 0) == ("é", 3)
    assert read_compact_string(data, 3) == (None, 4)
    assert read_compact_non_null(data, 4) == ("", 5)
    with pytest.raises(ProtocolError, match="null"):
        read_compact_non_null(data, 3)
    with pytest.raises(ProtocolError):
        read_compact_string(data[:2], 0)


def test_uuid_of_zeros_is_none() -> None:
    assert read_uuid(memoryview(bytes(16)), 0) is None
    assert read_uuid(memoryview(bytes(15) + b"\x07?"), 0) == UUID(int=7)
    with pytest.raises(ProtocolError):
        read_uuid(memoryview(bytes(17)), 2)


@pytest.mark.parametrize(
    ("count", "bytes_left", "min_element_bytes", "elements_left"),
    [(-1, 100, 4, 10), (26, 100, 4, 100), (2**32, 100, 1, 2**40), (11, 100, 1, 10)],
)
def test_arrays_that_cannot_be_are_refused(
    count: int, bytes_left: int, min_element_bytes: int, elements_left: int
) -> None:
    with pytest.raises(ProtocolError):
        check_array(count, bytes_left, min_element_bytes, elements_left)


def test_arrays_use_up_what_the_message_may_hold() -> None:
    assert check_array(25, 100, 4, 30) == 5
    assert check_array(0, 0, 4, 0) == 0


def test_reader_keeps_one_allowance_for_all_arrays_nested_or_not() -> None:
    data = memoryview(bytes(MAX_ARRAY_ELEMENTS + 10))
    reader = Reader(data)
    one = Struct(">b")
    reader.array(lambda r: r.fixed(one), MAX_ARRAY_ELEMENTS, 1)
    with pytest.raises(ProtocolError, match="more than"):
        reader.array(lambda r: r.fixed(one), 1, 1)


def test_reader_never_leaves_its_buffer() -> None:
    reader = Reader(memoryview(b"\x00\x01\x02"))
    assert reader.fixed(Struct(">h")) == (1,)
    with pytest.raises(ProtocolError):
        reader.fixed(Struct(">h"))
    with pytest.raises(ProtocolError):
        reader.take(2)
    with pytest.raises(ProtocolError):
        reader.take(-1)
    assert bytes(reader.take(1)) == b"\x02"
    with pytest.raises(ProtocolError):
        reader.uvarint()


def test_known_tags_are_read_from_exactly_their_bytes() -> None:
    def read_two(reader: Reader) -> bytes:
        return bytes(reader.take(2))

    fields = b"\x02" + encode_tagged_field(9, b"skipped") + encode_tagged_field(1, b"ab")
    reader = Reader(memoryview(fields))
    assert reader.tagged_fields({1: read_two}) == {1: b"ab"}
    assert reader.position == len(fields)
    for wrong in (b"a", b"abc"):
        with pytest.raises(ProtocolError):
            Reader(memoryview(b"\x01" + encode_tagged_field(1, wrong))).tagged_fields({1: read_two})


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\xffb", "a\ufffdb"),
        (b"\xe2\x82", "\ufffd"),  # cut off
        (b"\xed\xa0\x80", "\ufffd"),  # an encoded surrogate
        (b"\xed\xa0", "\ufffd"),
        (b"\xed\xa0\xed\xbf\xbfx", "\ufffd\ufffdx"),
        (b"\xc0\x80", "\ufffd\ufffd"),
    ],
)
def test_what_is_no_utf_8_is_marked_as_java_does(data: bytes, text: str) -> None:
    assert data.decode(errors=AS_JAVA) == text
    assert read_compact_string(memoryview(encode_uvarint(len(data) + 1) + data), 0)[0] == text
    with pytest.raises(UnicodeEncodeError):
        "\ud800".encode(errors=AS_JAVA)
