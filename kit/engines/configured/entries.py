"""What an entry of the file may hold: keys that every kind shares, and the price of a model.

An unknown key is an error that names the closest known one: a typo must not change a price.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kit.errors import ConfigError, KitError
from kit.parameters import suggest
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

#: Kind of problem -> what would be right, with the limit that the problem names.
_RIGHT: dict[str, str] = {
    "string_type": "must be text in quotes",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "decimal_type": "must be a number",
    "decimal_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list, such as [...]",
    "model_type": "must be a table, such as {{ ... }}",
    "dict_type": "must be a table, such as {{ ... }}",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
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


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Return what a value must be, and what it is where that is short, of a pydantic's error.

    Examples
    --------
    >>> describe_problem({"type": "float_parsing", "input": "soon", "msg": "Input should be ..."})
    "must be a number, not 'soon'"
    """
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "value_error":
        return str(problem["msg"]).removeprefix("Value error, ")
    pattern = str(context.get("pattern", ""))
    right = _FORMS.get(pattern, f"must have the form {pattern}") if pattern else ""
    limits = {name: _plain(limit) for name, limit in context.items()}
    right = right or _RIGHT.get(kind, "").format_map(limits)
    if not right:
        return str(problem["msg"])
    value = problem.get("input")
    if isinstance(value, str):
        return f"{right}, not {value!r}" if len(value) <= _SHORT else right
    return f"{right}, not {_plain(value)}" if isinstance(value, int | float) else right


def _plain(value: Any) -> str:
    """Return a number as people write it: 60, not 60.0."""
    if isinstance(value, float) and value.is_integer():
        return f"{value:.0f}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe_error(error: BaseException) -> str:
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
    """What every entry that is one model has; empty texts are made up by its kind."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]{0,99}$")
    title: str = ""
    category: str = ""
    description: str = ""
    #: A number is the price of every request; a table has the parts of a rule.
    price: Annotated[PriceTable, BeforeValidator(_table)]


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


def _sentence(kind: type[BaseModel], problem: Any) -> str:
    place = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        known = _table_with(kind, problem["loc"]).model_fields
        return f"unknown key {place!r}{suggest(str(problem['loc'][-1]), known)}"
    if problem["type"] == "missing":
        return f"{place!r} is missing"
    message = describe_problem(problem)
    return f"{place!r}: {message}" if place else message


def _table_with(kind: type[BaseModel], place: tuple[int | str, ...]) -> type[BaseModel]:
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


def _check_variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or _KEY.fullmatch(name):
        # Without the text: it may well be a key.
        raise ValueError("name an environment variable, not the key itself")
    if name in _KEPT_BACK:
        raise ValueError(f"{name} is kept from render processes; give this key its own variable")
    return name


class SecretEntry(FileTable):
    """What every entry has whose models may need a secret; only their jobs are given it."""

    #: Name of the environment variable that holds the key; the key itself never stands here.
    key_env: Annotated[str, AfterValidator(_check_variable)] | None = None

    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables that it reads."""
        return (self.key_env,) if self.key_env else ()
