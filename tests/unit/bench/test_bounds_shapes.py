"""Requests of every shape are what their APIs decode: their elements reach the handler."""

import pytest

from bench.bounds_shapes import shape_cases
from headrace.broker.api.registry import FIRST_KEYS, LATER_KEYS
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.headers import parse_request_header
from headrace.protocol.messages.registry import REQUESTS

CASES = {case.name: case for case in shape_cases(60)}


def test_each_key_that_has_an_array_has_a_shape() -> None:
    named = {ApiKey[name.partition(":")[0]] for name in CASES}
    served = {*FIRST_KEYS, *LATER_KEYS}
    without = {ApiKey(int(key)) for key in served} - named
    assert {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_FETCH} <= named
    for key in without:
        assert not [it for it in REQUESTS[key].READ_STEPS if it], f"{key.name} has arrays"


@pytest.mark.parametrize("name", CASES)
def test_a_shape_is_a_request(name: str) -> None:
    frame = memoryview(CASES[name].frames())[4:]
    header, offset = parse_request_header(frame)
    request = messages.decode_request(header.api_key, header.api_version, frame[offset:])
    assert ApiKey[name.partition(":")[0]] == type(request).API_KEY
