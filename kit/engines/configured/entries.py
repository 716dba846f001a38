"""What an entry of the file may hold: keys that every kind shares, and the price of a model.

An unknown key is an error that names the closest known one: a typo must not change a price.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kit.engines.base import Definition, model_of
from kit.engines.configured.sentences import sentence
from kit.errors import ConfigError
from kit.parameters import suggest
from kit.wire import CATEGORIES, Multiplier, Parameter, Rule, UnitPrice

E = TypeVar("E", bound="Entry")


class Entry(BaseModel):
    """Base of everything that the file holds: immutable, and an unknown key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Unit(Entry):
    """Credits for each unit of a number parameter, or for each second of an input medium."""

    parameter: str | None = None
    medium: str | None = None
    credits: Decimal


class Factor(Entry):
    """A factor on the price that depends on the value of a parameter."""

    parameter: str
    values: dict[str, Decimal]


class PriceTable(Entry):
    """A price rule, as the file has it. Source: contract, "Pricing"."""

    base: Decimal = Decimal(0)
    units: list[Unit] = Field(default_factory=list)
    multipliers: list[Factor] = Field(default_factory=list)

    def rule(self) -> Rule:
        """Return it as the rule that quotes are made with."""
        return Rule(
            base=self.base,
            units=[UnitPrice(**unit.model_dump()) for unit in self.units],
            multipliers=[Multiplier(**factor.model_dump()) for factor in self.multipliers],
        )


def _table(price: Any) -> Any:
    if isinstance(price, (Mapping, PriceTable)):
        return price
    if isinstance(price, str | bool | None | list):
        quoted = ", without quotes" if isinstance(price, str) else ""
        raise ValueError(
            f"must be a number of credits such as 0.2{quoted}, or a table of base, units and "
            "multipliers"
        )
    return {"base": price}


#: A number is the price of every request; a table has the parts of a rule.
Price = Annotated[PriceTable, BeforeValidator(_table)]


class Setting(Entry):
    """A setting that is passed on as it is, under its own name."""

    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    type: str = Field(default="string", pattern="^(string|integer|number|boolean)$")
    required: bool = False
    default: Any = None
    enum: list[Any] | None = None
    description: str = ""
    minimum: float | int | None = None
    maximum: float | int | None = None
    max_length: int | None = Field(default=None, ge=1)

    def parameter(self) -> Parameter:
        """Return it as a parameter of a model."""
        return Parameter(**self.model_dump())


class ModelEntry(Entry):
    """What every entry that is one model has.

    Parameters
    ----------
    id : str
        Public identifier; small letters, digits, dots and dashes.
    title, category, description : str
        Empty for what the kind of entry makes up.
    price : number or table
        Credits; see `Price`.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,99}$")
    title: str = ""
    category: str = ""
    description: str = ""
    price: Price


def read(kind: type[E], data: Mapping[str, Any]) -> E:
    """Return an entry of a kind.

    Raises
    ------
    ConfigError
        With a sentence for each key that is unknown, missing or makes no sense.

    Examples
    --------
    >>> read(Unit, {"parameter": "seconds", "credit": 2})
    Traceback (most recent call last):
    kit.errors.ConfigError: 'credits' is missing; unknown key 'credit'; did you mean 'credits'?
    """
    try:
        return kind.model_validate(dict(data))
    except ValidationError as error:
        sentences = [_sentence(kind, problem) for problem in error.errors()]
        raise ConfigError("; ".join(sentences)) from None


def checked(definition: Definition) -> Definition:
    """Return a definition that the catalog will take.

    Raises
    ------
    ConfigError
        It has a category that does not exist, or a price rule that cannot price every request.
    """
    known = CATEGORIES.get(definition.asset_type, ())
    if known and definition.category not in known:
        hint = suggest(definition.category, known)
        raise ConfigError(f"there is no category {definition.category!r}{hint}")
    model_of(definition)
    return definition


def _sentence(kind: type[BaseModel], problem: Any) -> str:
    place = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        known = _level(kind, problem["loc"]).model_fields
        return f"unknown key {place!r}{suggest(str(problem['loc'][-1]), known)}"
    if problem["type"] == "missing":
        return f"{place!r} is missing"
    message = sentence(problem)
    return f"{place!r}: {message}" if place else message


def _level(kind: type[BaseModel], place: tuple[int | str, ...]) -> type[BaseModel]:
    """Return the model that a key deep in an entry belongs to."""
    for part in place[:-1]:
        if isinstance(part, str):
            annotation = kind.model_fields[part].annotation
            found = [annotation, *get_args(annotation)]
            kind = next((a for a in found if isinstance(a, type) and issubclass(a, Entry)), kind)
    return kind
