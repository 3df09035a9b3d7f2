"""Fits values of documents into the types of columns, or says why one does not fit."""

import base64
import binascii
import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Context, Decimal
from typing import Any, Final

from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from headrace.pipeline.tables.errors import BadRecordError

_WIDE: Final = Context(prec=100)  # more digits than a column can have
_MAX_FLOAT: Final = 3.4028235e38
_MAX_SHOWN: Final = 60  # characters of a value in a reason
Fit = Callable[[Any], object]


class Surplus:
    """Whether documents have had fields that their columns lack."""

    def __init__(self) -> None:
        self.is_seen = False


class StructFit:
    """Fits documents into a struct."""

    def __init__(self, struct: StructType, surplus: Surplus) -> None:
        self._fits = [
            (it.name, fit_of(it.field_type, surplus), it.required) for it in struct.fields
        ]
        self._names = {it.name for it in struct.fields}
        self._surplus = surplus

    def pass_over(self, name: str) -> None:
        """Take a field that has no column, and will have none, for no surplus."""
        self._names.add(name)

    def fit(self, document: Mapping[str, Any]) -> dict[str, object]:
        """Return the values of the columns.

        Raises:
            BadRecordError: one does not fit; the message names it.
        """
        if not isinstance(document, Mapping):
            raise BadRecordError(f"{shown(document)} is no object")
        row: dict[str, object] = {}
        for name, fit, required in self._fits:
            value = document.get(name)
            if value is None:
                if required:
                    raise BadRecordError(f"{name} is missing")
                row[name] = None
                continue
            try:
                row[name] = fit(value)
            except BadRecordError as error:
                raise BadRecordError(f"{name}: {error}") from error
        if not self._names.issuperset(document):
            self._surplus.is_seen = True
        return row


def fit_of(kind: IcebergType, surplus: Surplus) -> Fit:
    """How values are fitted into a type."""
    match kind:
        case StructType():
            return StructFit(kind, surplus).fit
        case ListType():
            return _list_fit(kind, surplus)
        case MapType():
            return _map_fit(kind, surplus)
        case DecimalType():
            return _decimal_fit(kind)
        case _:
            assert isinstance(kind, PrimitiveType)
            return _PRIMITIVES[type(kind)]


def shown(value: object) -> str:
    """A value in a message, cut."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # too many digits, or too deep
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _list_fit(kind: ListType, surplus: Surplus) -> Fit:
    fit = fit_of(kind.element_type, surplus)

    def fit_list(value: Any) -> object:
        if not isinstance(value, list | tuple):
            raise BadRecordError(f"{shown(value)} is no list")
        return [None if it is None else fit(it) for it in value]

    return fit_list


def _map_fit(kind: MapType, surplus: Surplus) -> Fit:
    fit_key, fit_value = fit_of(kind.key_type, surplus), fit_of(kind.value_type, surplus)

    def fit_map(value: Any) -> object:
        if not isinstance(value, Mapping):
            raise BadRecordError(f"{shown(value)} is no map")
        return [(fit_key(key), None if it is None else fit_value(it)) for key, it in value.items()]

    return fit_map


def _decimal_fit(kind: DecimalType) -> Fit:
    quantum = Decimal(1).scaleb(-kind.scale)
    limit = Decimal(1).scaleb(kind.precision - kind.scale)

    def fit_decimal(value: Any) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise BadRecordError(f"{shown(value)} is no number")
        try:
            number = Decimal(repr(value) if isinstance(value, float) else value)
            if not number.is_finite() or number.copy_abs() >= limit:
                raise BadRecordError(f"{shown(value)} is out of the range of {kind}")
            exact = number.quantize(quantum, context=_WIDE)
        except (ArithmeticError, ValueError) as error:
            raise BadRecordError(f"{shown(value)} is no {kind}") from error
        if exact != number:
            raise BadRecordError(
                f"{shown(value)} has more than {kind.scale} digits behind the point"
            )
        return exact

    return fit_decimal


def _boolean(value: Any) -> object:
    if not isinstance(value, bool):
        raise BadRecordError(f"{shown(value)} is not true or false")
    return value


def _whole_fit(bits: int) -> Fit:
    limit = 1 << (bits - 1)

    def fit_whole(value: Any) -> object:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadRecordError(f"{shown(value)} is no whole number")
        if not -limit <= value < limit:
            raise BadRecordError(f"{shown(value)} does not fit into {bits} bits")
        return value

    return fit_whole


def _floating_fit(limit: float) -> Fit:
    def fit_floating(value: Any) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRecordError(f"{shown(value)} is no number")
        try:
            found = float(value)
        except OverflowError as error:
            raise BadRecordError(f"{shown(value)} is out of range") from error
        if math.isfinite(found) and abs(found) > limit:
            raise BadRecordError(f"{shown(value)} is out of range")
        return found

    return fit_floating


def _string(value: Any) -> object:
    """Text; of anything else its JSON text."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRecordError(f"{shown(value)} is no text") from error


def _binary(value: Any) -> object:
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise BadRecordError(f"{shown(value)} is not in base64") from error


def _date(value: Any) -> object:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise BadRecordError(f"{shown(value)} is no date such as 2026-01-31") from error


def _timestamp(value: Any) -> object:
    found = value if isinstance(value, datetime) else _iso(value)
    if found.tzinfo is not None:
        raise BadRecordError(f"{shown(value)} has a time zone, and the column has none")
    return found


def _timestamptz(value: Any) -> object:
    """ISO 8601 with a time zone, or milliseconds since 1970."""
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value / 1000, UTC)
        except (OverflowError, OSError, ValueError) as error:
            raise BadRecordError(f"{shown(value)} is no time in milliseconds") from error
    found = value if isinstance(value, datetime) else _iso(value)
    if found.tzinfo is None:
        raise BadRecordError(f"{shown(value)} has no time zone")
    try:
        return found.astimezone(UTC)
    except OverflowError as error:
        raise BadRecordError(f"{shown(value)} is not in the years 1 to 9999 of UTC") from error


def _iso(value: Any) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise BadRecordError(f"{shown(value)} is no time such as 2026-01-31T12:00:00Z") from error


_PRIMITIVES: Final[Mapping[type[PrimitiveType], Fit]] = {
    BooleanType: _boolean,
    IntegerType: _whole_fit(32),
    LongType: _whole_fit(64),
    FloatType: _floating_fit(_MAX_FLOAT),
    DoubleType: _floating_fit(math.inf),
    StringType: _string,
    BinaryType: _binary,
    DateType: _date,
    TimestampType: _timestamp,
    TimestamptzType: _timestamptz,
}


def is_fitted(field: NestedField) -> bool:
    """Whether values can be fitted into the type of a column, which another program may have made."""
    kind = field.field_type
    match kind:
        case StructType():
            return all(map(is_fitted, kind.fields))
        case ListType():
            return is_fitted(kind.element_field)
        case MapType():
            return is_fitted(kind.key_field) and is_fitted(kind.value_field)
        case _:
            return isinstance(kind, DecimalType) or type(kind) in _PRIMITIVES
