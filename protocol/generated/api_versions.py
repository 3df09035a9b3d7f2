"""ApiVersionsRequest, ApiVersionsResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import batches, check_tag_end, read_c_count, read_c_null_string, read_c_string, read_count, read_tag_count, read_tag_end, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string, write_count, write_tagged
from headrace.protocol.primitives import Reader

class ApiVersionsRequest(KafkaMessage):
    """Key 18, versions 0 to 5, flexible from 3 on."""

    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    client_software_name: str = ""
    client_software_version: str = ""
    cluster_id: str | None = None
    node_id: int = -1


class ApiVersionsResponse(KafkaMessage):
    """Key 18, versions 0 to 5, flexible from 3 on."""

    class ApiVersion(MessageStruct):
        """Versions 0+."""

        api_key: int = 0
        min_version: int = 0
        max_version: int = 0

    class SupportedFeatureKey(MessageStruct):
        """Versions 3+."""

        name: str = ""
        min_version: int = 0
        max_version: int = 0

    class FinalizedFeatureKey(MessageStruct):
        """Versions 3+."""

        name: str = ""
        max_version_level: int = 0
        min_version_level: int = 0

    API_KEY: ClassVar[int] = 18
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 3
    error_code: int = 0
    api_keys: Collection[ApiVersionsResponse.ApiVersion] = []
    throttle_time_ms: int = 0
    supported_features: Collection[ApiVersionsResponse.SupportedFeatureKey] = []
    finalized_features_epoch: int = -1
    finalized_features: Collection[ApiVersionsResponse.FinalizedFeatureKey] = []
    zk_migration_ready: bool = False


_ApiVersion = ApiVersionsResponse.ApiVersion
_SupportedFeatureKey = ApiVersionsResponse.SupportedFeatureKey
_FinalizedFeatureKey = ApiVersionsResponse.FinalizedFeatureKey
_P_h: Final = Struct(">h").pack
_P_hhh: Final = Struct(">hhh").pack
_P_hhhx: Final = Struct(">hhhx").pack
_P_hhx: Final = Struct(">hhx").pack
_P_i: Final = Struct(">i").pack
_P_ix: Final = Struct(">ix").pack
_P_q: Final = Struct(">q").pack
_P_t: Final = Struct(">?").pack
_S_h: Final = Struct(">h")
_S_hh: Final = Struct(">hh")
_S_hhh: Final = Struct(">hhh")
_S_i: Final = Struct(">i")
_S_q: Final = Struct(">q")
_S_t: Final = Struct(">?")


def _read_ApiVersionsRequest_0(r: Reader) -> ApiVersionsRequest:
    return ApiVersionsRequest()


def _read_ApiVersionsRequest_3(r: Reader) -> ApiVersionsRequest:
    client_software_name = read_c_string(r)
    client_software_version = read_c_string(r)
    skip_tags(r)
    return ApiVersionsRequest(client_software_name, client_software_version)


def _read_ApiVersionsRequest_5(r: Reader) -> ApiVersionsRequest:
    client_software_name = read_c_string(r)
    client_software_version = read_c_string(r)
    cluster_id = read_c_null_string(r)
    node_id, = r.fixed(_S_i)
    skip_tags(r)
    return ApiVersionsRequest(client_software_name, client_software_version, cluster_id, node_id)


def _write_ApiVersionsRequest_0(out: bytearray, m: ApiVersionsRequest) -> None:
    pass


def _write_ApiVersionsRequest_3(out: bytearray, m: ApiVersionsRequest) -> None:
    write_c_string(out, m.client_software_name)
    write_c_string(out, m.client_software_version)
    out.append(0)


def _write_ApiVersionsRequest_5(out: bytearray, m: ApiVersionsRequest) -> None:
    write_c_string(out, m.client_software_name)
    write_c_string(out, m.client_software_version)
    write_c_null_string(out, m.cluster_id)
    out += _P_ix(m.node_id)


def _read_ApiVersion_0(r: Reader) -> _ApiVersion:
    api_key, min_version, max_version = r.fixed(_S_hhh)
    return _ApiVersion(api_key, min_version, max_version)


def _read_ApiVersionsResponse_0(r: Reader) -> ApiVersionsResponse:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 6)
    api_keys = [_read_ApiVersion_0(r) for _ in range(n)]
    return ApiVersionsResponse(error_code, api_keys)


def _read_ApiVersionsResponse_1(r: Reader) -> ApiVersionsResponse:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 6)
    api_keys = [_read_ApiVersion_0(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    return ApiVersionsResponse(error_code, api_keys, throttle_time_ms)


def _read_ApiVersion_3(r: Reader) -> _ApiVersion:
    api_key, min_version, max_version = r.fixed(_S_hhh)
    skip_tags(r)
    return _ApiVersion(api_key, min_version, max_version)


def _read_SupportedFeatureKey_3(r: Reader) -> _SupportedFeatureKey:
    name = read_c_string(r)
    min_version, max_version = r.fixed(_S_hh)
    skip_tags(r)
    return _SupportedFeatureKey(name, min_version, max_version)


def _read_FinalizedFeatureKey_3(r: Reader) -> _FinalizedFeatureKey:
    name = read_c_string(r)
    max_version_level, min_version_level = r.fixed(_S_hh)
    skip_tags(r)
    return _FinalizedFeatureKey(name, max_version_level, min_version_level)


def _read_ApiVersionsResponse_3(r: Reader) -> ApiVersionsResponse:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 7)
    api_keys = [_read_ApiVersion_3(r) for _ in range(n)]
    throttle_time_ms, = r.fixed(_S_i)
    supported_features: list[ApiVersionsResponse.SupportedFeatureKey] = []
    finalized_features_epoch: int = -1
    finalized_features: list[ApiVersionsResponse.FinalizedFeatureKey] = []
    zk_migration_ready: bool = False
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 6)
            supported_features = [_read_SupportedFeatureKey_3(r) for _ in range(n)]
            check_tag_end(r, end)
        elif tag == 1:
            finalized_features_epoch, = r.fixed(_S_q)
            check_tag_end(r, end)
        elif tag == 2:
            n = read_c_count(r, 6)
            finalized_features = [_read_FinalizedFeatureKey_3(r) for _ in range(n)]
            check_tag_end(r, end)
        elif tag == 3:
            zk_migration_ready, = r.fixed(_S_t)
            check_tag_end(r, end)
        else:
            r.position = end
    return ApiVersionsResponse(error_code, api_keys, throttle_time_ms, supported_features, finalized_features_epoch, finalized_features, zk_migration_ready)


def _read_steps_ApiVersionsResponse_0(r: Reader) -> Generator[None, None, ApiVersionsResponse]:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 6)
    api_keys: list[ApiVersionsResponse.ApiVersion] = []
    for some in batches(n):
        api_keys += [_read_ApiVersion_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return ApiVersionsResponse(error_code, api_keys)


def _read_steps_ApiVersionsResponse_1(r: Reader) -> Generator[None, None, ApiVersionsResponse]:
    error_code, = r.fixed(_S_h)
    n = read_count(r, 6)
    api_keys: list[ApiVersionsResponse.ApiVersion] = []
    for some in batches(n):
        api_keys += [_read_ApiVersion_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    return ApiVersionsResponse(error_code, api_keys, throttle_time_ms)


def _read_steps_ApiVersionsResponse_3(r: Reader) -> Generator[None, None, ApiVersionsResponse]:
    error_code, = r.fixed(_S_h)
    n = read_c_count(r, 7)
    api_keys: list[ApiVersionsResponse.ApiVersion] = []
    for some in batches(n):
        api_keys += [_read_ApiVersion_3(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    throttle_time_ms, = r.fixed(_S_i)
    supported_features: list[ApiVersionsResponse.SupportedFeatureKey] = []
    finalized_features_epoch: int = -1
    finalized_features: list[ApiVersionsResponse.FinalizedFeatureKey] = []
    zk_migration_ready: bool = False
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 6)
            supported_features = [_read_SupportedFeatureKey_3(r) for _ in range(n)]
            check_tag_end(r, end)
        elif tag == 1:
            finalized_features_epoch, = r.fixed(_S_q)
            check_tag_end(r, end)
        elif tag == 2:
            n = read_c_count(r, 6)
            finalized_features = [_read_FinalizedFeatureKey_3(r) for _ in range(n)]
            check_tag_end(r, end)
        elif tag == 3:
            zk_migration_ready, = r.fixed(_S_t)
            check_tag_end(r, end)
        else:
            r.position = end
    return ApiVersionsResponse(error_code, api_keys, throttle_time_ms, supported_features, finalized_features_epoch, finalized_features, zk_migration_ready)


def _write_ApiVersion_0(out: bytearray, m: _ApiVersion) -> None:
    out += _P_hhh(m.api_key, m.min_version, m.max_version)


def _write_ApiVersionsResponse_0(out: bytearray, m: ApiVersionsResponse) -> None:
    out += _P_h(m.error_code)
    write_count(out, len(m.api_keys))
    for it_api_keys in m.api_keys:
        _write_ApiVersion_0(out, it_api_keys)


def _write_ApiVersionsResponse_1(out: bytearray, m: ApiVersionsResponse) -> None:
    out += _P_h(m.error_code)
    write_count(out, len(m.api_keys))
    for it_api_keys in m.api_keys:
        _write_ApiVersion_0(out, it_api_keys)
    out += _P_i(m.throttle_time_ms)


def _write_ApiVersion_3(out: bytearray, m: _ApiVersion) -> None:
    out += _P_hhhx(m.api_key, m.min_version, m.max_version)


def _write_SupportedFeatureKey_3(out: bytearray, m: _SupportedFeatureKey) -> None:
    write_c_string(out, m.name)
    out += _P_hhx(m.min_version, m.max_version)


def _write_FinalizedFeatureKey_3(out: bytearray, m: _FinalizedFeatureKey) -> None:
    write_c_string(out, m.name)
    out += _P_hhx(m.max_version_level, m.min_version_level)


def _write_ApiVersionsResponse_3(out: bytearray, m: ApiVersionsResponse) -> None:
    out += _P_h(m.error_code)
    write_c_count(out, len(m.api_keys))
    for it_api_keys in m.api_keys:
        _write_ApiVersion_3(out, it_api_keys)
    out += _P_i(m.throttle_time_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.supported_features:
        field = bytearray()
        write_c_count(field, len(m.supported_features))
        for it_supported_features in m.supported_features:
            _write_SupportedFeatureKey_3(field, it_supported_features)
        tags.append((0, field))
    if m.finalized_features_epoch != -1:
        field = bytearray()
        field += _P_q(m.finalized_features_epoch)
        tags.append((1, field))
    if m.finalized_features:
        field = bytearray()
        write_c_count(field, len(m.finalized_features))
        for it_finalized_features in m.finalized_features:
            _write_FinalizedFeatureKey_3(field, it_finalized_features)
        tags.append((2, field))
    if m.zk_migration_ready != False:
        field = bytearray()
        field += _P_t(m.zk_migration_ready)
        tags.append((3, field))
    write_tagged(out, tags)


def _write_steps_ApiVersionsResponse_0(o: Output, m: ApiVersionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_count(out, len(m.api_keys))
    left_api_keys = iter(m.api_keys)
    for some in batches(len(m.api_keys)):
        for it_api_keys in islice(left_api_keys, some):
            _write_ApiVersion_0(out, it_api_keys)
        if o.elements_ended(some):
            yield


def _write_steps_ApiVersionsResponse_1(o: Output, m: ApiVersionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_count(out, len(m.api_keys))
    left_api_keys = iter(m.api_keys)
    for some in batches(len(m.api_keys)):
        for it_api_keys in islice(left_api_keys, some):
            _write_ApiVersion_0(out, it_api_keys)
        if o.elements_ended(some):
            yield
    out += _P_i(m.throttle_time_ms)


def _write_steps_ApiVersionsResponse_3(o: Output, m: ApiVersionsResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_h(m.error_code)
    write_c_count(out, len(m.api_keys))
    left_api_keys = iter(m.api_keys)
    for some in batches(len(m.api_keys)):
        for it_api_keys in islice(left_api_keys, some):
            _write_ApiVersion_3(out, it_api_keys)
        if o.elements_ended(some):
            yield
    out += _P_i(m.throttle_time_ms)
    tags: list[tuple[int, bytearray]] = []
    if m.supported_features:
        field = bytearray()
        write_c_count(field, len(m.supported_features))
        for it_supported_features in m.supported_features:
            _write_SupportedFeatureKey_3(field, it_supported_features)
        tags.append((0, field))
    if m.finalized_features_epoch != -1:
        field = bytearray()
        field += _P_q(m.finalized_features_epoch)
        tags.append((1, field))
    if m.finalized_features:
        field = bytearray()
        write_c_count(field, len(m.finalized_features))
        for it_finalized_features in m.finalized_features:
            _write_FinalizedFeatureKey_3(field, it_finalized_features)
        tags.append((2, field))
    if m.zk_migration_ready != False:
        field = bytearray()
        field += _P_t(m.zk_migration_ready)
        tags.append((3, field))
    write_tagged(out, tags)


def _error_for(m: ApiVersionsRequest, code: int) -> ApiVersionsResponse:
    return ApiVersionsResponse(error_code=code)


ApiVersionsRequest.READ = (_read_ApiVersionsRequest_0, _read_ApiVersionsRequest_0, _read_ApiVersionsRequest_0, _read_ApiVersionsRequest_3, _read_ApiVersionsRequest_3, _read_ApiVersionsRequest_5,)
ApiVersionsRequest.READ_STEPS = (None, None, None, None, None, None,)
ApiVersionsRequest.WRITE = (_write_ApiVersionsRequest_0, _write_ApiVersionsRequest_0, _write_ApiVersionsRequest_0, _write_ApiVersionsRequest_3, _write_ApiVersionsRequest_3, _write_ApiVersionsRequest_5,)
ApiVersionsRequest.WRITE_STEPS = (None, None, None, None, None, None,)
ApiVersionsResponse.READ = (_read_ApiVersionsResponse_0, _read_ApiVersionsResponse_1, _read_ApiVersionsResponse_1, _read_ApiVersionsResponse_3, _read_ApiVersionsResponse_3, _read_ApiVersionsResponse_3,)
ApiVersionsResponse.READ_STEPS = (_read_steps_ApiVersionsResponse_0, _read_steps_ApiVersionsResponse_1, _read_steps_ApiVersionsResponse_1, _read_steps_ApiVersionsResponse_3, _read_steps_ApiVersionsResponse_3, _read_steps_ApiVersionsResponse_3,)
ApiVersionsResponse.WRITE = (_write_ApiVersionsResponse_0, _write_ApiVersionsResponse_1, _write_ApiVersionsResponse_1, _write_ApiVersionsResponse_3, _write_ApiVersionsResponse_3, _write_ApiVersionsResponse_3,)
ApiVersionsResponse.WRITE_STEPS = (_write_steps_ApiVersionsResponse_0, _write_steps_ApiVersionsResponse_1, _write_steps_ApiVersionsResponse_1, _write_steps_ApiVersionsResponse_3, _write_steps_ApiVersionsResponse_3, _write_steps_ApiVersionsResponse_3,)
ApiVersionsRequest.ERROR_FOR = _error_for
