"""DeleteTopicsRequest, DeleteTopicsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, read_count, read_string, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, uuid_bytes, write_c_count, write_c_null_string, write_c_string, write_count, write_string
from headrace.protocol.primitives import Reader

class DeleteTopicsRequest(KafkaMessage):
    """Key 20, versions 1 to 6, flexible from 4 on."""

    class DeleteTopicState(MessageStruct):
        """Versions 6+."""

        name: str | None = None
        topic_id: UUID | None = None

    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 4
    topics: list[DeleteTopicsRequest.DeleteTopicState] = []
    topic_names: list[str] = []
    timeout_ms: int = 0


class DeleteTopicsResponse(KafkaMessage):
    """Key 20, versions 1 to 6, flexible from 4 on."""

    class DeletableTopicResult(MessageStruct):
        """Versions 0+."""

        name: str | None = ""
        topic_id: UUID | None = None
        error_code: int = 0
        error_message: str | None = None

    API_KEY: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 1
    FLEXIBLE_SINCE: ClassVar[int] = 4
    throttle_time_ms: int = 0
    responses: Collection[DeleteTopicsResponse.DeletableTopicResult] = []


_DeleteTopicState = DeleteTopicsRequest.DeleteTopicState
_DeletableTopicResult = DeleteTopicsResponse.DeletableTopicResult
_P_h: Final = Struct(">h").pack
_P_hx: Final = Struct(">hx").pack
_P_i: Final = Struct(">i").pack
_P_ix: Final = Struct(">ix").pack
_P_uh: Final = Struct(">16sh").pack
_P_ux: Final = Struct(">16sx").pack
_S_h: Final = Struct(">h")
_S_i: Final = Struct(">i")
_S_u: Final = Struct(">16s")
_S_uh: Final = Struct(">16sh")


def _read_DeleteTopicsRequest_1(r: Reader) -> DeleteTopicsRequest:
    n = read_count(r, 2)
    topic_names = [read_string(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    return DeleteTopicsRequest([], topic_names, timeout_ms)


def _read_DeleteTopicsRequest_4(r: Reader) -> DeleteTopicsRequest:
    n = read_c_count(r, 1)
    topic_names = [read_c_string(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DeleteTopicsRequest([], topic_names, timeout_ms)


def _read_DeleteTopicState_6(r: Reader) -> _DeleteTopicState:
    name = read_c_null_string(r)
    topic_id, = r.fixed(_S_u)
    skip_tags(r)
    return _DeleteTopicState(name, uuid_of(topic_id))


def _read_DeleteTopicsRequest_6(r: Reader) -> DeleteTopicsRequest:
    n = read_c_count(r, 18)
    topics = [_read_DeleteTopicState_6(r) for _ in range(n)]
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DeleteTopicsRequest(topics, [], timeout_ms)


def _read_steps_DeleteTopicsRequest_1(r: Reader) -> Generator[None, None, DeleteTopicsRequest]:
    n = read_count(r, 2)
    topic_names: list[str] = []
    if n <= FLAT_ELEMENTS:
        topic_names = [read_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topic_names.append(read_string(r))
            if r.elements_ended(1):
                yield
    timeout_ms, = r.fixed(_S_i)
    return DeleteTopicsRequest([], topic_names, timeout_ms)


def _read_steps_DeleteTopicsRequest_4(r: Reader) -> Generator[None, None, DeleteTopicsRequest]:
    n = read_c_count(r, 1)
    topic_names: list[str] = []
    if n <= FLAT_ELEMENTS:
        topic_names = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topic_names.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DeleteTopicsRequest([], topic_names, timeout_ms)


def _read_steps_DeleteTopicsRequest_6(r: Reader) -> Generator[None, None, DeleteTopicsRequest]:
    n = read_c_count(r, 18)
    topics: list[DeleteTopicsRequest.DeleteTopicState] = []
    if n <= FLAT_ELEMENTS:
        topics = [_read_DeleteTopicState_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(_read_DeleteTopicState_6(r))
            if r.elements_ended(1):
                yield
    timeout_ms, = r.fixed(_S_i)
    skip_tags(r)
    return DeleteTopicsRequest(topics, [], timeout_ms)


def _write_DeleteTopicsRequest_1(out: bytearray, m: DeleteTopicsRequest) -> None:
    write_count(out, len(m.topic_names))
    for it_topic_names in m.topic_names:
        write_string(out, it_topic_names)
    out += _P_i(m.timeout_ms)


def _write_DeleteTopicsRequest_4(out: bytearray, m: DeleteTopicsRequest) -> None:
    write_c_count(out, len(m.topic_names))
    for it_topic_names in m.topic_names:
        write_c_string(out, it_topic_names)
    out += _P_ix(m.timeout_ms)


def _write_DeleteTopicState_6(out: bytearray, m: _DeleteTopicState) -> None:
    write_c_null_string(out, m.name)
    out += _P_ux(uuid_bytes(m.topic_id))


def _write_DeleteTopicsRequest_6(out: bytearray, m: DeleteTopicsRequest) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_DeleteTopicState_6(out, it_topics)
    out += _P_ix(m.timeout_ms)


def _write_steps_DeleteTopicsRequest_1(o: Output, m: DeleteTopicsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_count(out, len(m.topic_names))
    if len(m.topic_names) <= FLAT_ELEMENTS:
        for it_topic_names in m.topic_names:
            write_string(out, it_topic_names)
        if o.elements_ended(len(m.topic_names)):
            yield
    else:
        for it_topic_names in m.topic_names:
            write_string(out, it_topic_names)
            if o.elements_ended(1):
                yield
    out += _P_i(m.timeout_ms)


def _write_steps_DeleteTopicsRequest_4(o: Output, m: DeleteTopicsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topic_names))
    if len(m.topic_names) <= FLAT_ELEMENTS:
        for it_topic_names in m.topic_names:
            write_c_string(out, it_topic_names)
        if o.elements_ended(len(m.topic_names)):
            yield
    else:
        for it_topic_names in m.topic_names:
            write_c_string(out, it_topic_names)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.timeout_ms)


def _write_steps_DeleteTopicsRequest_6(o: Output, m: DeleteTopicsRequest) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            _write_DeleteTopicState_6(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            _write_DeleteTopicState_6(out, it_topics)
            if o.elements_ended(1):
                yield
    out += _P_ix(m.timeout_ms)


def _read_DeletableTopicResult_1(r: Reader) -> _DeletableTopicResult:
    name = read_string(r)
    error_code, = r.fixed(_S_h)
    return _DeletableTopicResult(name, None, error_code)


def _read_DeleteTopicsResponse_1(r: Reader) -> DeleteTopicsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 4)
    responses = [_read_DeletableTopicResult_1(r) for _ in range(n)]
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _read_DeletableTopicResult_4(r: Reader) -> _DeletableTopicResult:
    name = read_c_string(r)
    error_code, = r.fixed(_S_h)
    skip_tags(r)
    return _DeletableTopicResult(name, None, error_code)


def _read_DeleteTopicsResponse_4(r: Reader) -> DeleteTopicsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 4)
    responses = [_read_DeletableTopicResult_4(r) for _ in range(n)]
    skip_tags(r)
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _read_DeletableTopicResult_5(r: Reader) -> _DeletableTopicResult:
    name = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _DeletableTopicResult(name, None, error_code, error_message)


def _read_DeleteTopicsResponse_5(r: Reader) -> DeleteTopicsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    responses = [_read_DeletableTopicResult_5(r) for _ in range(n)]
    skip_tags(r)
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _read_DeletableTopicResult_6(r: Reader) -> _DeletableTopicResult:
    name = read_c_null_string(r)
    topic_id, error_code = r.fixed(_S_uh)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _DeletableTopicResult(name, uuid_of(topic_id), error_code, error_message)


def _read_DeleteTopicsResponse_6(r: Reader) -> DeleteTopicsResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 21)
    responses = [_read_DeletableTopicResult_6(r) for _ in range(n)]
    skip_tags(r)
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _read_steps_DeleteTopicsResponse_1(r: Reader) -> Generator[None, None, DeleteTopicsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 4)
    responses: list[DeleteTopicsResponse.DeletableTopicResult] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_DeletableTopicResult_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_DeletableTopicResult_1(r))
            if r.elements_ended(1):
                yield
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _read_steps_DeleteTopicsResponse_4(r: Reader) -> Generator[None, None, DeleteTopicsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 4)
    responses: list[DeleteTopicsResponse.DeletableTopicResult] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_DeletableTopicResult_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_DeletableTopicResult_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _read_steps_DeleteTopicsResponse_5(r: Reader) -> Generator[None, None, DeleteTopicsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    responses: list[DeleteTopicsResponse.DeletableTopicResult] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_DeletableTopicResult_5(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_DeletableTopicResult_5(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _read_steps_DeleteTopicsResponse_6(r: Reader) -> Generator[None, None, DeleteTopicsResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_c_count(r, 21)
    responses: list[DeleteTopicsResponse.DeletableTopicResult] = []
    if n <= FLAT_ELEMENTS:
        responses = [_read_DeletableTopicResult_6(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            responses.append(_read_DeletableTopicResult_6(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return DeleteTopicsResponse(throttle_time_ms, responses)


def _write_DeletableTopicResult_1(out: bytearray, m: _DeletableTopicResult) -> None:
    assert m.name is not None
    write_string(out, m.name)
    out += _P_h(m.error_code)


def _write_DeleteTopicsResponse_1(out: bytearray, m: DeleteTopicsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_DeletableTopicResult_1(out, it_responses)


def _write_DeletableTopicResult_4(out: bytearray, m: _DeletableTopicResult) -> None:
    assert m.name is not None
    write_c_string(out, m.name)
    out += _P_hx(m.error_code)


def _write_DeleteTopicsResponse_4(out: bytearray, m: DeleteTopicsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_DeletableTopicResult_4(out, it_responses)
    out.append(0)


def _write_DeletableTopicResult_5(out: bytearray, m: _DeletableTopicResult) -> None:
    assert m.name is not None
    write_c_string(out, m.name)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_DeleteTopicsResponse_5(out: bytearray, m: DeleteTopicsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_DeletableTopicResult_5(out, it_responses)
    out.append(0)


def _write_DeletableTopicResult_6(out: bytearray, m: _DeletableTopicResult) -> None:
    write_c_null_string(out, m.name)
    out += _P_uh(uuid_bytes(m.topic_id), m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_DeleteTopicsResponse_6(out: bytearray, m: DeleteTopicsResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_DeletableTopicResult_6(out, it_responses)
    out.append(0)


def _write_steps_DeleteTopicsResponse_1(o: Output, m: DeleteTopicsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    if len(m.responses) <= FLAT_ELEMENTS:
        for it_responses in m.responses:
            _write_DeletableTopicResult_1(out, it_responses)
        if o.elements_ended(len(m.responses)):
            yield
    else:
        for it_responses in m.responses:
            _write_DeletableTopicResult_1(out, it_responses)
            if o.elements_ended(1):
                yield


def _write_steps_DeleteTopicsResponse_4(o: Output, m: DeleteTopicsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    if len(m.responses) <= FLAT_ELEMENTS:
        for it_responses in m.responses:
            _write_DeletableTopicResult_4(out, it_responses)
        if o.elements_ended(len(m.responses)):
            yield
    else:
        for it_responses in m.responses:
            _write_DeletableTopicResult_4(out, it_responses)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DeleteTopicsResponse_5(o: Output, m: DeleteTopicsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    if len(m.responses) <= FLAT_ELEMENTS:
        for it_responses in m.responses:
            _write_DeletableTopicResult_5(out, it_responses)
        if o.elements_ended(len(m.responses)):
            yield
    else:
        for it_responses in m.responses:
            _write_DeletableTopicResult_5(out, it_responses)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_DeleteTopicsResponse_6(o: Output, m: DeleteTopicsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_c_count(out, len(m.responses))
    if len(m.responses) <= FLAT_ELEMENTS:
        for it_responses in m.responses:
            _write_DeletableTopicResult_6(out, it_responses)
        if o.elements_ended(len(m.responses)):
            yield
    else:
        for it_responses in m.responses:
            _write_DeletableTopicResult_6(out, it_responses)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: DeleteTopicsRequest, code: int) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(responses=[_DeletableTopicResult(name=it0.name or "", topic_id=it0.topic_id, error_code=code, error_message=None) for it0 in m.topics] + [_DeletableTopicResult(name=it0, error_code=code) for it0 in m.topic_names])


DeleteTopicsRequest.READ = (_read_DeleteTopicsRequest_1, _read_DeleteTopicsRequest_1, _read_DeleteTopicsRequest_1, _read_DeleteTopicsRequest_4, _read_DeleteTopicsRequest_4, _read_DeleteTopicsRequest_6,)
DeleteTopicsRequest.READ_STEPS = (_read_steps_DeleteTopicsRequest_1, _read_steps_DeleteTopicsRequest_1, _read_steps_DeleteTopicsRequest_1, _read_steps_DeleteTopicsRequest_4, _read_steps_DeleteTopicsRequest_4, _read_steps_DeleteTopicsRequest_6,)
DeleteTopicsRequest.WRITE = (_write_DeleteTopicsRequest_1, _write_DeleteTopicsRequest_1, _write_DeleteTopicsRequest_1, _write_DeleteTopicsRequest_4, _write_DeleteTopicsRequest_4, _write_DeleteTopicsRequest_6,)
DeleteTopicsRequest.WRITE_STEPS = (_write_steps_DeleteTopicsRequest_1, _write_steps_DeleteTopicsRequest_1, _write_steps_DeleteTopicsRequest_1, _write_steps_DeleteTopicsRequest_4, _write_steps_DeleteTopicsRequest_4, _write_steps_DeleteTopicsRequest_6,)
DeleteTopicsResponse.READ = (_read_DeleteTopicsResponse_1, _read_DeleteTopicsResponse_1, _read_DeleteTopicsResponse_1, _read_DeleteTopicsResponse_4, _read_DeleteTopicsResponse_5, _read_DeleteTopicsResponse_6,)
DeleteTopicsResponse.READ_STEPS = (_read_steps_DeleteTopicsResponse_1, _read_steps_DeleteTopicsResponse_1, _read_steps_DeleteTopicsResponse_1, _read_steps_DeleteTopicsResponse_4, _read_steps_DeleteTopicsResponse_5, _read_steps_DeleteTopicsResponse_6,)
DeleteTopicsResponse.WRITE = (_write_DeleteTopicsResponse_1, _write_DeleteTopicsResponse_1, _write_DeleteTopicsResponse_1, _write_DeleteTopicsResponse_4, _write_DeleteTopicsResponse_5, _write_DeleteTopicsResponse_6,)
DeleteTopicsResponse.WRITE_STEPS = (_write_steps_DeleteTopicsResponse_1, _write_steps_DeleteTopicsResponse_1, _write_steps_DeleteTopicsResponse_1, _write_steps_DeleteTopicsResponse_4, _write_steps_DeleteTopicsResponse_5, _write_steps_DeleteTopicsResponse_6,)
DeleteTopicsRequest.ERROR_FOR = _error_for
