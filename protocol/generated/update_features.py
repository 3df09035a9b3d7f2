"""UpdateFeaturesRequest, UpdateFeaturesResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from struct import Struct, pack
from typing import ClassVar, Final

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, read_c_count, read_c_null_string, read_c_string, skip_tags
from headrace.protocol.message_writing import Output, write_c_count, write_c_null_string, write_c_string
from headrace.protocol.primitives import Reader

class UpdateFeaturesRequest(KafkaMessage):
    """Key 57, versions 0 to 2, flexible from 0 on."""

    class FeatureUpdateKey(MessageStruct):
        """Versions 0+."""

        feature: str = ""
        max_version_level: int = 0
        allow_downgrade: bool = False
        upgrade_type: int = 1

    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    timeout_ms: int = 60000
    feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey] = []
    validate_only: bool = False


class UpdateFeaturesResponse(KafkaMessage):
    """Key 57, versions 0 to 2, flexible from 0 on."""

    class UpdatableFeatureResult(MessageStruct):
        """Versions 0-1."""

        feature: str = ""
        error_code: int = 0
        error_message: str | None = ""

    API_KEY: ClassVar[int] = 57
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ""
    results: Collection[UpdateFeaturesResponse.UpdatableFeatureResult] = []


_FeatureUpdateKey = UpdateFeaturesRequest.FeatureUpdateKey
_UpdatableFeatureResult = UpdateFeaturesResponse.UpdatableFeatureResult
_P_h: Final = Struct(">h").pack
_P_hbx: Final = Struct(">hbx").pack
_P_htx: Final = Struct(">h?x").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_tx: Final = Struct(">?x").pack
_S_h: Final = Struct(">h")
_S_hb: Final = Struct(">hb")
_S_ht: Final = Struct(">h?")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_t: Final = Struct(">?")


def _read_FeatureUpdateKey_0(r: Reader) -> _FeatureUpdateKey:
    feature = read_c_string(r)
    max_version_level, allow_downgrade = r.fixed(_S_ht)
    skip_tags(r)
    return _FeatureUpdateKey(feature, max_version_level, allow_downgrade)


def _read_UpdateFeaturesRequest_0(r: Reader) -> UpdateFeaturesRequest:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    feature_updates = [_read_FeatureUpdateKey_0(r) for _ in range(n)]
    skip_tags(r)
    return UpdateFeaturesRequest(timeout_ms, feature_updates)


def _read_FeatureUpdateKey_1(r: Reader) -> _FeatureUpdateKey:
    feature = read_c_string(r)
    max_version_level, upgrade_type = r.fixed(_S_hb)
    skip_tags(r)
    return _FeatureUpdateKey(feature, max_version_level, False, upgrade_type)


def _read_UpdateFeaturesRequest_1(r: Reader) -> UpdateFeaturesRequest:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    feature_updates = [_read_FeatureUpdateKey_1(r) for _ in range(n)]
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return UpdateFeaturesRequest(timeout_ms, feature_updates, validate_only)


def _read_steps_UpdateFeaturesRequest_0(r: Reader) -> Generator[None, None, UpdateFeaturesRequest]:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey] = []
    if n <= FLAT_ELEMENTS:
        feature_updates = [_read_FeatureUpdateKey_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            feature_updates.append(_read_FeatureUpdateKey_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return UpdateFeaturesRequest(timeout_ms, feature_updates)


def _read_steps_UpdateFeaturesRequest_1(r: Reader) -> Generator[None, None, UpdateFeaturesRequest]:
    timeout_ms, = r.fixed(_S_i)
    n = read_c_count(r, 5)
    feature_updates: list[UpdateFeaturesRequest.FeatureUpdateKey] = []
    if n <= FLAT_ELEMENTS:
        feature_updates = [_read_FeatureUpdateKey_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            feature_updates.append(_read_FeatureUpdateKey_1(r))
            if r.elements_ended(1):
                yield
    validate_only, = r.fixed(_S_t)
    skip_tags(r)
    return UpdateFeaturesRequest(timeout_ms, feature_updates, validate_only)


def _write_FeatureUpdateKey_0(out: bytearray, m: _FeatureUpdateKey) -> None:
    write_c_string(out, m.feature)
    out += _P_htx(m.max_version_level, m.allow_downgrade)


def _write_UpdateFeaturesRequest_0(out: bytearray, m: UpdateFeaturesRequest) -> None:
    out += _P_i(m.timeout_ms)
    write_c_count(out, len(m.feature_updates))
    for it_feature_updates in m.feature_updates:
        _write_FeatureUpdateKey_0(out, it_feature_updates)
    out.append(0)


def _write_FeatureUpdateKey_1(out: bytearray, m: _FeatureUpdateKey) -> None:
    write_c_string(out, m.feature)
    out += _P_hbx(m.max_version_level, m.upgrade_type)


def _write_UpdateFeaturesRequest_1(out: bytearray, m: UpdateFeaturesRequest) -> None:
    out += _P_i(m.timeout_ms)
    write_c_count(out, len(m.feature_updates))
    for it_feature_updates in m.feature_updates:
        _write_FeatureUpdateKey_1(out, it_feature_updates)
    out += _P_tx(m.validate_only)


def _write_steps_UpdateFeaturesRequest_0(o: Output, m: UpdateFeaturesRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.timeout_ms)
    write_c_count(out, len(m.feature_updates))
    if len(m.feature_updates) <= FLAT_ELEMENTS:
        for it_feature_updates in m.feature_updates:
            _write_FeatureUpdateKey_0(out, it_feature_updates)
        if o.elements_ended(len(m.feature_updates)):
            yield
    else:
        for it_feature_updates in m.feature_updates:
            _write_FeatureUpdateKey_0(out, it_feature_updates)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_UpdateFeaturesRequest_1(o: Output, m: UpdateFeaturesRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.timeout_ms)
    write_c_count(out, len(m.feature_updates))
    if len(m.feature_updates) <= FLAT_ELEMENTS:
        for it_feature_updates in m.feature_updates:
            _write_FeatureUpdateKey_1(out, it_feature_updates)
        if o.elements_ended(len(m.feature_updates)):
            yield
    else:
        for it_feature_updates in m.feature_updates:
            _write_FeatureUpdateKey_1(out, it_feature_updates)
            if o.elements_ended(1):
                yield
    out += _P_tx(m.validate_only)


def _read_UpdatableFeatureResult_0(r: Reader) -> _UpdatableFeatureResult:
    feature = read_c_string(r)
    error_code, = r.fixed(_S_h)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return _UpdatableFeatureResult(feature, error_code, error_message)


def _read_UpdateFeaturesResponse_0(r: Reader) -> UpdateFeaturesResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 5)
    results = [_read_UpdatableFeatureResult_0(r) for _ in range(n)]
    skip_tags(r)
    return UpdateFeaturesResponse(throttle_time_ms, error_code, error_message, results)


def _read_UpdateFeaturesResponse_2(r: Reader) -> UpdateFeaturesResponse:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    skip_tags(r)
    return UpdateFeaturesResponse(throttle_time_ms, error_code, error_message)


def _read_steps_UpdateFeaturesResponse_0(r: Reader) -> Generator[None, None, UpdateFeaturesResponse]:
    throttle_time_ms, error_code = r.fixed(_S_ih)
    error_message = read_c_null_string(r)
    n = read_c_count(r, 5)
    results: list[UpdateFeaturesResponse.UpdatableFeatureResult] = []
    if n <= FLAT_ELEMENTS:
        results = [_read_UpdatableFeatureResult_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            results.append(_read_UpdatableFeatureResult_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return UpdateFeaturesResponse(throttle_time_ms, error_code, error_message, results)


def _write_UpdatableFeatureResult_0(out: bytearray, m: _UpdatableFeatureResult) -> None:
    write_c_string(out, m.feature)
    out += _P_h(m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_UpdateFeaturesResponse_0(out: bytearray, m: UpdateFeaturesResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.results))
    for it_results in m.results:
        _write_UpdatableFeatureResult_0(out, it_results)
    out.append(0)


def _write_UpdateFeaturesResponse_2(out: bytearray, m: UpdateFeaturesResponse) -> None:
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    out.append(0)


def _write_steps_UpdateFeaturesResponse_0(o: Output, m: UpdateFeaturesResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ih(m.throttle_time_ms, m.error_code)
    write_c_null_string(out, m.error_message)
    write_c_count(out, len(m.results))
    if len(m.results) <= FLAT_ELEMENTS:
        for it_results in m.results:
            _write_UpdatableFeatureResult_0(out, it_results)
        if o.elements_ended(len(m.results)):
            yield
    else:
        for it_results in m.results:
            _write_UpdatableFeatureResult_0(out, it_results)
            if o.elements_ended(1):
                yield
    out.append(0)


def _error_for(m: UpdateFeaturesRequest, code: int) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(error_code=code, error_message=None)


UpdateFeaturesRequest.READ = (_read_UpdateFeaturesRequest_0, _read_UpdateFeaturesRequest_1, _read_UpdateFeaturesRequest_1,)
UpdateFeaturesRequest.READ_STEPS = (_read_steps_UpdateFeaturesRequest_0, _read_steps_UpdateFeaturesRequest_1, _read_steps_UpdateFeaturesRequest_1,)
UpdateFeaturesRequest.WRITE = (_write_UpdateFeaturesRequest_0, _write_UpdateFeaturesRequest_1, _write_UpdateFeaturesRequest_1,)
UpdateFeaturesRequest.WRITE_STEPS = (_write_steps_UpdateFeaturesRequest_0, _write_steps_UpdateFeaturesRequest_1, _write_steps_UpdateFeaturesRequest_1,)
UpdateFeaturesResponse.READ = (_read_UpdateFeaturesResponse_0, _read_UpdateFeaturesResponse_0, _read_UpdateFeaturesResponse_2,)
UpdateFeaturesResponse.READ_STEPS = (_read_steps_UpdateFeaturesResponse_0, _read_steps_UpdateFeaturesResponse_0, None,)
UpdateFeaturesResponse.WRITE = (_write_UpdateFeaturesResponse_0, _write_UpdateFeaturesResponse_0, _write_UpdateFeaturesResponse_2,)
UpdateFeaturesResponse.WRITE_STEPS = (_write_steps_UpdateFeaturesResponse_0, _write_steps_UpdateFeaturesResponse_0, None,)
UpdateFeaturesRequest.ERROR_FOR = _error_for
