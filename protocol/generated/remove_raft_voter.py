"""RemoveRaftVoterRequest, RemoveRaftVoterResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_reading import read_c_null_string, skip_tags, uuid_of
from headrace.protocol.message_writing import uuid_bytes, write_c_null_string
from headrace.protocol.primitives import Reader

class RemoveRaftVoterRequest(KafkaMessage):
    """Key 81, version 0, flexible from 0 on."""

    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    cluster_id: str | None = ""
    voter_id: int = 0
    voter_directory_id: UUID | None = None


class RemoveRaftVoterResponse(KafkaMessage):
    """Key 81, version 0, flexible from 0 on."""

    API_KEY: ClassVar[int] = 81
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""


_P_ih: Final = Struct(">ih").pack
_P_iux: Final = Struct(">i16sx").pack
_S_ih: Final = Struct(">ih")
_S_iu: Final = Struct(">i16s")


def _read_RemoveRaftVoterRequest_0(r: Reader) -> RemoveRaftVoterRequest:
    cluster_id = read_c_null_string(r)
    voter_id, voter_directory_id = r.fixed(_S_iu)
    skip_tags(r)
    return RemoveRaftVoterRequest(cluster_id, voter_id, uuid_of(voter_directory_id))


def _write_RemoveRaftVoterRequest_0(out: bytearray, m: RemoveRaftVoterRequest) -> None:
    write_c_null_string(out, m.cluster_id)
    out += _P_iux(m.voter_id, uuid_bytes(m.voter_directory_id))


def _read_RemoveRaftVoterResponse_0(r: Reader) -> RemoveRaftVoterResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return RemoveRaftVoterResponse(throttle_time_ms, error_code, error_message)


def _write_RemoveRaftVoterResponse_0(out: bytearray, m: RemoveRaftVoterResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _error_for(m: RemoveRaftVoterRequest, code: int) -> RemoveRaftVoterResponse:
    return RemoveRaftVoterResponse(error_code=code, error_message=None)


RemoveRaftVoterRequest.READ = (_read_RemoveRaftVoterRequest_0,)
RemoveRaftVoterRequest.READ_STEPS = (None,)
RemoveRaftVoterRequest.WRITE = (_write_RemoveRaftVoterRequest_0,)
RemoveRaftVoterRequest.WRITE_STEPS = (None,)
RemoveRaftVoterResponse.READ = (_read_RemoveRaftVoterResponse_0,)
RemoveRaftVoterResponse.READ_STEPS = (None,)
RemoveRaftVoterResponse.WRITE = (_write_RemoveRaftVoterResponse_0,)
RemoveRaftVoterResponse.WRITE_STEPS = (None,)
RemoveRaftVoterRequest.ERROR_FOR = _error_for
