"""Entries of the file: keys that all kinds share, and the price of a model.

An unknown key is an error that suggests the closest known one: a typo must not change a price.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from kit.engines.configured.place import ID, ID_WORDS
from kit.errors import ConfigError
from kit.parameters import suggest
from kit.wire import Credits, Parameter, Rule

#: Maximum length of a value in a message: a longer one may be a secret in the wrong place.
_MAX_SHOWN = 16
#: TOML's terms for types in error messages of pydantic.
_TOML_MESSAGES = {
    "string_type": "must be text in quotes",
    "model_type": "must be a table, such as { ... }",
    "dict_type": "must be a table, such as { ... }",
    "list_type": "must be a list, such as [...]",
}


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Return the message for a pydantic error: the requirement, and the value if it is short.

    Examples
    --------
    >>> describe_problem({"type": "greater_than", "input": 0, "msg": "Input should be above 1"})
    'must be above 1, not 0'
    """
    message = str(problem["msg"])
    if problem["type"] == "value_error":
        return message.removeprefix("Value error, ")
    rule = _TOML_MESSAGES.get(problem["type"]) or re.sub(r"^\w+ should\b", "must", message)
    return rule + _show_value(problem.get("input"))


def _show_value(value: Any) -> str:
    """Return the end of a message with the value, if that is short and no table or list."""
    short = isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _MAX_SHOWN)
    return f", not {value!r}" if short else ""


def text_pattern(pattern: str, rule: str) -> AfterValidator:
    """Return a validator for a pattern; `rule` describes it, after "must be"."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"must be {rule}{_show_value(text)}")
        return text

    return AfterValidator(check)


E = TypeVar("E", bound="FileTable")


class FileTable(BaseModel):
    """Base class of all tables of the file: immutable, and refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Unit(FileTable):
    """Credits per unit of a number parameter, or per second of an input medium."""

    parameter: str | None = None
    medium: str | None = None
    credits: Credits


class Factor(FileTable):
    """A factor of the price that depends on the value of a parameter."""

    parameter: str
    values: dict[str, Credits]


class PriceTable(FileTable):
    """A price rule in the file. Source: contract, "Pricing"."""

    base: Credits = Decimal(0)
    units: list[Unit] = Field(default_factory=list)
    multipliers: list[Factor] = Field(default_factory=list)

    def rule(self) -> Rule:
        """Return it as a rule for quotes."""
        return Rule.model_validate(self.model_dump())


def _make_table(price: Any) -> Any:
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
    """A setting that is passed on unchanged, under its own name."""

    name: Annotated[
        str,
        text_pattern("[A-Za-z_][A-Za-z0-9_]*", "letters, digits and underscores, no digit first"),
    ]
    type: Literal["string", "integer", "number", "boolean"] = "string"
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
    """Keys of all entries for one model; empty texts get defaults of their kind."""

    id: Annotated[str, text_pattern(ID, ID_WORDS)]
    title: str = ""
    category: str = ""
    description: str = ""
    #: A number is the price of each request; a table has the parts of a rule.
    price: Annotated[PriceTable, BeforeValidator(_make_table)]


def read(kind: type[E], data: Mapping[str, Any]) -> E:
    """Return a validated entry of a kind.

    Raises
    ------
    ConfigError
        With a sentence for each key that is unknown, missing or invalid.

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
    path = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        known = _find_table(kind, problem["loc"]).model_fields
        return f"unknown key {path!r}{suggest(str(problem['loc'][-1]), known)}"
    if problem["type"] == "missing":
        return f"{path!r} is missing"
    message = describe_problem(problem)
    return f"{path!r}: {message}" if path else message


def _find_table(kind: type[BaseModel], path: tuple[int | str, ...]) -> type[BaseModel]:
    for part in path[:-1]:
        if isinstance(part, str):
            annotation = kind.model_fields[part].annotation
            found = [annotation, *get_args(annotation)]
            kind = next(
                (a for a in found if isinstance(a, type) and issubclass(a, FileTable)), kind
            )
    return kind


#: Variables of the service itself, including the credentials of its bucket.
_RESERVED = re.compile("KIT_((API|WRITER)_KEY|(DATABASE|STORAGE)_URL)|AWS_.*(ACCESS|SESSION).*")
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
#: Unlike any variable name: a long text of small letters and digits, or with a key's prefix.
_KEY_TEXT = re.compile(
    r"(?=.{20})((?=.*[a-z])(?=.*[0-9])|(?=.*[a-z])(?=.*[A-Z])(?!.*_)|(sk|cs|hf|gsk|r8|xai)_).*"
)


def _check_variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or _KEY_TEXT.fullmatch(name):
        # The message omits the text, which may be a key.
        raise ValueError("name an environment variable, not the key itself")
    if _RESERVED.fullmatch(name):
        raise ValueError(f"{name} is kept from render processes; give this key its own variable")
    return name


class SecretEntry(FileTable):
    """Keys of all entries whose models may need a secret; only their jobs get it."""

    #: Name of the environment variable with the key; never the key itself.
    key_env: Annotated[str, AfterValidator(_check_variable)] | None = None

    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables that it uses."""
        return (self.key_env,) if self.key_env else ()
