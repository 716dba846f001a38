"""What an entry of the file may hold: keys that every kind shares, and the price of a model.

An unknown key is an error that names the closest known one: a typo must not change a price.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kit.engines.base import Definition, model_of
from kit.errors import ConfigError, KitError
from kit.parameters import suggest
from kit.wire import CATEGORIES, Multiplier, Parameter, Rule, UnitPrice

_NUMBER = "must be a number"
_WHOLE = "must be a whole number"
_TEXT = "must be text in quotes"
_FINITE = "must be a finite number"

#: Kind of problem -> what would be right.
_SAID: dict[str, str] = {
    "string_type": _TEXT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": _FINITE,
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list, such as [...]",
    "model_type": "must be a table, such as { ... }",
    "dict_type": "must be a table, such as { ... }",
}
#: Kind of problem -> what would be right, with the limit that the problem names.
_LIMITS: dict[str, tuple[str, str]] = {
    "greater_than": ("must be greater than {}", "gt"),
    "greater_than_equal": ("must be at least {}", "ge"),
    "less_than": ("must be less than {}", "lt"),
    "less_than_equal": ("must be at most {}", "le"),
    "literal_error": ("must be {}", "expected"),
    "string_too_short": ("must have at least {} characters", "min_length"),
    "string_too_long": ("must have at most {} characters", "max_length"),
    "too_short": ("must have at least {} entries", "min_length"),
    "too_long": ("must have at most {} entries", "max_length"),
}
#: What a form that texts must have means.
_FORMS: dict[str, str] = {
    r"^[a-z0-9][a-z0-9.-]{0,99}$": (
        "must be small letters, digits, dots and dashes, at most 100, a letter or digit first"
    ),
    r"^[a-z0-9][a-z0-9-]{0,39}$": (
        "must be small letters, digits and dashes, at most 40, a letter or digit first"
    ),
    r"^[A-Za-z_][A-Za-z0-9_]*$": "must be letters, digits and underscores, no digit first",
    r"^[A-Za-z0-9_]*$": "must be letters, digits and underscores",
    r"^(string|integer|number|boolean)$": "must be string, integer, number or boolean",
    r"^(auto|cpu|mps|cuda(:\d+)?)$": "must be auto, cpu, mps, cuda or a numbered one: cuda:1",
}
#: Longest text of the file that is repeated: a longer one may be a key in the wrong place.
_SHORT = 16


def sentence(problem: Mapping[str, Any]) -> str:
    """Return what a value must be, and what it is where that is short.

    Parameters
    ----------
    problem : mapping
        One of pydantic's ``errors()``.

    Examples
    --------
    >>> sentence({"type": "float_parsing", "input": "soon", "msg": "Input should be a number"})
    "must be a number, not 'soon'"
    """
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "value_error":
        return str(problem["msg"]).removeprefix("Value error, ")
    found = _SAID.get(kind) or _limit(kind, context) or _form(context)
    return f"{found}{_instead(problem.get('input'))}" if found else str(problem["msg"])


def _limit(kind: str, context: Mapping[str, Any]) -> str:
    words, name = _LIMITS.get(kind, ("", ""))
    limit = context.get(name)
    return words.format(_plain(limit) if isinstance(limit, float) else limit)


def _form(context: Mapping[str, Any]) -> str:
    pattern = str(context.get("pattern", ""))
    return _FORMS.get(pattern, f"must have the form {pattern}" if pattern else "")


def _instead(value: Any) -> str:
    shown = _SHOWN.get(type(value), lambda _: "")(value)
    return f", not {shown}" if shown else ""


#: How values of the file are repeated; those of other types are not.
_SHOWN: dict[type, Callable[[Any], str]] = {
    str: lambda text: repr(text) if len(text) <= _SHORT else "",
    bool: lambda flag: str(flag).lower(),
    int: str,
    float: lambda number: _plain(number),
}


def _plain(number: float) -> str:
    """Return a number as people write it: 60, not 60.0."""
    return f"{number:.0f}" if number.is_integer() else str(number)


def said(error: BaseException) -> str:
    """Return an error in one line, even one whose own text cannot be had."""
    if isinstance(error, KitError):
        return str(getattr(error, "detail", "")) or str(error)
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
    return " ".join(traceback.format_exception_only(error)[-1].split())


E = TypeVar("E", bound="FileTable")


class FileTable(BaseModel):
    """Base of everything that the file holds: immutable, and an unknown key is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Unit(FileTable):
    """Credits for each unit of a number parameter, or for each second of an input medium."""

    parameter: str | None = None
    medium: str | None = None
    credits: Decimal


class Factor(FileTable):
    """A factor on the price that depends on the value of a parameter."""

    parameter: str
    values: dict[str, Decimal]


class PriceTable(FileTable):
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


class EntrySetting(FileTable):
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


class ModelEntry(FileTable):
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
            kind = next(
                (a for a in found if isinstance(a, type) and issubclass(a, FileTable)), kind
            )
    return kind


#: Variables that are the service's own.
_KEPT_BACK = frozenset({"KIT_API_KEY", "KIT_WRITER_KEY", "KIT_DATABASE_URL", "KIT_STORAGE_URL"})
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
#: No variable is called so: a long text of small letters and digits, or one that begins as keys do.
_KEY = re.compile(
    r"(?=.{20})((?=.*[a-z])(?=.*[0-9])|(?=.*[a-z])(?=.*[A-Z])(?!.*_)|(sk|cs|hf|gsk|r8|xai)_).*"
)


def _readable(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or _KEY.fullmatch(name):
        # Without the text: it may well be a key.
        raise ValueError("name an environment variable, not the key itself")
    if name in _KEPT_BACK:
        raise ValueError(f"{name} is kept from render processes; give this key its own variable")
    return name


class SecretEntry(FileTable):
    """What every entry has whose models may need a secret; only their jobs are given it.

    Parameters
    ----------
    key_env : str, optional
        Name of the environment variable that holds the key; the key itself never stands here.
    """

    key_env: Annotated[str, AfterValidator(_readable)] | None = None

    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables that it reads."""
        return (self.key_env,) if self.key_env else ()
