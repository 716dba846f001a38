"""What every wire model is made of."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PlainSerializer,
    model_validator,
)
from pydantic.alias_generators import to_camel


def _number(value: Decimal) -> float | int:
    return int(value) if value == value.to_integral_value() else float(value)


#: An amount of credits: a Decimal in Python, a JSON number on the wire, never a float between.
Credits = Annotated[Decimal, PlainSerializer(_number, return_type=int | float, when_used="json")]


def timestamp(instant: datetime) -> str:
    """Write an instant the way the wire has it: ISO 8601, UTC, milliseconds, ``Z``."""
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _aware(instant: datetime) -> datetime:
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant


#: A moment, always aware; a service that forgets the zone means UTC.
Instant = Annotated[
    datetime,
    AfterValidator(_aware),
    PlainSerializer(timestamp, return_type=str, when_used="json"),
]


class Shape(BaseModel):
    """Base of all: immutable, camelCase outside, tolerant of new fields.

    Answers that come by the thousand are made of it directly: for them nothing of Python may run
    per object, so each of their fields takes a ``null`` itself.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        frozen=True,
        extra="ignore",
        protected_namespaces=(),
    )


class Wire(Shape):
    """Base of every other answer: a ``null`` means the same as a missing field."""

    @model_validator(mode="before")
    @classmethod
    def _null_is_missing(cls, data: Any) -> Any:
        """Read ``null`` as a missing field: other services send it for empty lists and flags."""
        if isinstance(data, dict):
            return {name: value for name, value in data.items() if value is not None}
        return data


class Body(Wire):
    """Base of every request body: an unknown field is refused and types are strict."""

    model_config = ConfigDict(extra="forbid", strict=True)
