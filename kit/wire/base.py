"""The base classes and field types of all wire models."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError, to_json

from kit.wire import reading

T = TypeVar("T")

#: A secret, or an address that opens a file without a key: left out of the repr of its object.
Hidden = Annotated[T, Field(repr=False)]


def _to_number(value: Decimal) -> float | int:
    return int(value) if value == value.to_integral_value() else float(value)


class Amount(Decimal):
    """An exact Decimal that can be combined with floats, which gives a float.

    So prices and balances can be multiplied with rates, and compared with figures of dataframes.

    Examples
    --------
    >>> Amount("0.35") + Decimal("0.1"), Amount("0.35") * 2.0, Amount("0.35") == 0.35
    (Decimal('0.45'), 0.7, True)
    """

    __hash__ = Decimal.__hash__


def _with_floats(name: str) -> Callable[[Decimal, Any], Any]:
    """Return an operator of Decimal that uses floats if the other operand is a float."""
    exact, rough = getattr(Decimal, name), getattr(float, name)

    def operate(self: Decimal, other: Any) -> Any:
        if isinstance(other, float):
            return rough(float(self), other)
        found = exact(self, other)
        return Amount(found) if isinstance(found, Decimal) else found

    return operate


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    for _side in (f"__{_name}__", f"__r{_name}__"):
        setattr(Amount, _side, _with_floats(_side))
for _name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Amount, _name, _with_floats(_name))


_NOISE = Decimal("1e-12")


def _check_amount(sent: Any, parse: Callable[[Any], Decimal]) -> Amount:
    """Refuse unrealistic amounts: written out, 1e99999999 takes a hundred MB.

    Noise of services that add floats, as in 0.30000000000000004, is removed; an `Amount` is exact.
    """
    value = parse(sent)
    if value and not -400 < value.adjusted() < 15:
        raise ValueError("must be an amount of credits")
    if not isinstance(sent, Amount) and len(value.as_tuple().digits) > 15:
        short = Decimal(f"{value:.9f}".rstrip("0").rstrip(".")) + 0  # no negative zero
        value = short if abs(value - short) <= _NOISE * max(Decimal(1), abs(value)) else value
    return Amount(value)


#: An amount of credits: a Decimal in Python and a number in JSON, never converted to a float.
Credits = Annotated[
    Decimal,
    WrapValidator(_check_amount),
    PlainSerializer(_to_number, return_type=int | float, when_used="json"),
]


def timestamp(instant: datetime) -> str:
    """Format an instant for JSON: ISO 8601, UTC, milliseconds, ``Z``."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _check_instant(instant: datetime) -> datetime:
    if instant.year not in YEARS:  # some services send the year 1, 1970 or 9999 for a missing time
        raise ValueError(f"must be of the years {YEARS[0]} to {YEARS[-1]}")
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)


#: Plausible years of a timestamp.
YEARS = range(1971, 2200)

#: An aware datetime in UTC; one without a time zone is in UTC, too.
Instant = Annotated[
    datetime,
    AfterValidator(_check_instant),
    PlainSerializer(timestamp, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


#: Functions that render responses of a type as text and HTML, registered by `kit.widgets`: wire
#: models contain no HTML, but notebooks ask the object for it.
drawings: dict[type, tuple[Callable[[Any], str], Callable[[Any], str]]] = {}


class WireShape(BaseModel):
    """Base class of all models: immutable, camelCase in JSON, tolerant of new and malformed fields.

    A response is validated strictly first; then malformed fields count as missing, unless they are
    essential. So one malformed field of another service does not make the response unreadable.

    Responses with thousands of objects derive from it directly: for speed, no Python code may run
    per object, so each of their fields accepts ``null`` itself.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        frozen=True,
        extra="ignore",
        protected_namespaces=(),
        coerce_numbers_to_str=True,
        defer_build=True,  # a process uses few of the models
    )
    #: JSON names of essential fields: if one is malformed, the whole object is unreadable. Fields
    #: without a default are always essential.
    essential: ClassVar[frozenset[str]] = frozenset()

    def __str__(self) -> str:
        """Return the text in one line; `repr` has all fields."""
        drawn = self._drawing()
        return drawn[0](self) if drawn else repr(self)

    def _repr_html_(self) -> str | None:
        drawn = self._drawing()
        return drawn and drawn[1](self)

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(str(self))

    @classmethod
    def _drawing(cls) -> tuple[Callable[[Any], str], Callable[[Any], str]] | None:
        return next((drawings[kind] for kind in cls.__mro__ if kind in drawings), None)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Read a JSON response; malformed fields count as missing, see `WireShape`."""
        try:
            return super().model_validate_json(json_data, **options)
        except ValidationError as error:
            return cls._read_leniently(json_data, error)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Read a parsed response; malformed fields count as missing, see `WireShape`."""
        try:
            return super().model_validate(obj, **options)
        except ValidationError as error:
            try:
                content = to_json(obj)
            except PydanticSerializationError:
                raise error from None
            return cls._read_leniently(content, error)

    @classmethod
    def _read_leniently(cls, content: str | bytes | bytearray, error: ValidationError) -> Self:
        read = super().model_validate_json
        return reading.read_leniently(read, content, error, essential=cls.essential)


class Wire(WireShape):
    """Base class of all other responses: ``null`` means the same as a missing field."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_missing(cls, data: Any) -> Any:
        """Read ``null`` as a missing field: other services send it for empty lists and flags."""
        if isinstance(data, dict):
            return {name: value for name, value in data.items() if value is not None}
        return data


class Body(Wire):
    """Base class of request bodies: unknown fields are refused, and types are strict."""

    model_config = ConfigDict(extra="forbid", strict=True, coerce_numbers_to_str=False)

    @classmethod
    def _read_leniently(cls, content: str | bytes | bytearray, error: ValidationError) -> Self:
        raise error


class Problem(Wire):
    """An error. Source: API document, "Errors"; contract, "Conventions"."""

    code: str = ""
    message: str = ""
    details: Any = None
    request_id: str | None = None


class Problems(Wire):
    """The body of every error response."""

    error: Problem
