"""Models with their parameters and prices."""

from __future__ import annotations

from decimal import Decimal
from difflib import get_close_matches
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, TypeAdapter

from kit.wire.base import Credits, Instant, Wire


class _Declared(Wire):
    """What authors of models write: a misspelled name, which would be ignored, is an error.

    Those of responses are ignored: they are not given to `__new__`.
    """

    def __new__(cls, *_: Any, **fields: Any) -> Self:
        names = cls.model_fields
        known = {name for key in names for name in (key, names[key].alias)}
        for name in () if cls.__pydantic_custom_init__ else fields.keys() - known:
            hint = [f"; did you mean {close!r}?" for close in get_close_matches(name, names, 1)]
            raise TypeError("".join((f"{cls.__name__} has no field {name!r}", *hint)))
        return super().__new__(cls)


class Parameter(_Declared):
    """One input of a model. Source: API document, "Parameter"; contract, "Models".

    ``max_length`` is the maximum of characters in a text, or in each text of a list.
    """

    name: str
    type: str = "string"  # the API document does not define the allowed values
    required: bool = False
    default: Any = None
    enum: list[Any] | None = None
    description: str = ""
    minimum: float | int | None = None
    maximum: float | int | None = None
    media: bool = False
    max_items: int | None = None
    max_length: int | None = None


class UnitPrice(_Declared):
    """Credits per unit of a number parameter, or per second of an input file."""

    parameter: str | None = None
    medium: str | None = None
    credits: Credits


class Multiplier(_Declared):
    """A factor on the price by the value of a parameter; for other values it is 1."""

    parameter: str
    values: dict[str, Credits]


class Rule(_Declared):
    """The price of a model as data: ``(base + units) x multipliers``, rounded up to 1/100 credit.

    Source: contract, "Pricing".
    """

    base: Credits = Decimal(0)
    units: list[UnitPrice] = Field(default_factory=list)
    multipliers: list[Multiplier] = Field(default_factory=list)


_STRICT_RULE = TypeAdapter(Rule)


def _read_rule(data: Any) -> Any:
    """Read a price rule, or return None if it is malformed or of an unknown kind."""
    if not isinstance(data, dict):
        return data if isinstance(data, Rule) else None
    if data.get("base") is None and not data.get("units"):
        return None
    try:  # a price with an unknown field cannot be computed here
        rule = _STRICT_RULE.validate_python(data, extra="forbid")
    except ValueError:
        return None
    is_named = all(unit.parameter or unit.medium for unit in rule.units)
    factors = [factor for m in rule.multipliers for factor in m.values.values()]
    lowest = min(rule.base, *(unit.credits for unit in rule.units), *factors, Decimal(0))
    return rule if is_named and not lowest else None


class Term(Wire):
    """One term of a quote: its kind, its parameter and value, and its effect on the price."""

    kind: str  # base | unit | multiplier | rounding
    parameter: str | None = None
    value: Any = None
    factor: Credits | None = None  # of a multiplier
    credits: Credits  # what this term adds


class Quote(Wire):
    """The exact price of a request before it is started, with its terms.

    ``total`` is what a start charges. ``affordable`` is None if the balance is unknown.
    """

    total: Credits
    terms: list[Term] = Field(default_factory=list)
    source: str = "rule"  # rule | service | receipts | default
    affordable: bool | None = None
    balance: Credits | None = None


#: Not negative: a negative price would increase a budget.
_Price = Annotated[Credits, Field(ge=0)]


class Model(Wire):
    """A model with its parameters and prices.

    Source: API document, "Model"; contract, "Models" and "Pricing".
    """

    id: str
    title: str = ""
    asset_type: str = "image"
    category: str = ""
    supports_prompt: bool = True
    prompt_required: bool = False
    media_parameters: list[Parameter] = Field(default_factory=list)
    setting_parameters: list[Parameter] = Field(default_factory=list)
    credits_from: _Price | None = None
    credits_at_defaults: _Price | None = None
    estimated_credits: _Price | None = None
    supports_multi_reference_media: bool = False
    description: str = ""
    pricing: Annotated[Rule | None, BeforeValidator(_read_rule)] = None
    retires_at: Instant | None = None
    replaced_by: str | None = None

    @property
    def parameters(self) -> list[Parameter]:
        """All parameters, input files first."""
        return [*self.media_parameters, *self.setting_parameters]


class Models(Wire):
    """The list of models; other services may leave out a group that was not requested."""

    image: list[Model] = Field(default_factory=list)
    video: list[Model] = Field(default_factory=list)
