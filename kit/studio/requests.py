"""Requests: their JSON, comparison with generations, and how they are read from a file."""

from __future__ import annotations

import enum
import json
import logging
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kit import wire
from kit.client import uploads
from kit.client.calls import FetchMedium, Flow
from kit.client.settings import hash_text
from kit.errors import ConfigError, ParameterError
from kit.parameters import Problem, Request, is_own, suggest
from kit.private import user_path
from kit.wire.bounds import tag_problems

if TYPE_CHECKING:
    from kit.file_metadata import FileMetadata

_log = logging.getLogger("kit")

#: Sent to let the service choose a value, which it then reports.
_SERVICE_CHOOSES = -1
#: The largest integer that all JSON parsers keep exact.
_MAX_EXACT = 2**53
_ID = re.compile(r"[\w-]{1,128}", re.ASCII)


def matches_request(
    facts: wire.Generation, request: wire.StartGeneration, *, strict: bool = False
) -> bool:
    """Return whether a generation matches a request, as far as its fields are reported.

    If `strict`, model and prompt must be reported: without them it could be any generation.
    """
    if facts.model_id != request.model_id and (strict or facts.model_id is not None):
        return False
    prompt, shown = (request.prompt or "").strip(), facts.prompt
    if (shown or "").strip() != prompt and (strict or shown is not None):
        return False
    return all(
        value == _SERVICE_CHOOSES or normalize_numbers(settings[name]) == normalize_numbers(value)
        for settings in [facts.parameters or {}]
        for name, value in request.parameters.items()
        if settings.get(name) is not None
    )


def fingerprint(facts: wire.Generation) -> str:
    """Return a hash of the reported request: model, prompt and plain settings.

    URLs are left out, because they may be signed differently each time.
    """
    settings = {
        name: normalize_numbers(value)
        for name, value in (facts.parameters or {}).items()
        if isinstance(value, (str, int, float)) and "://" not in str(value)
    }
    return hash_text(json.dumps([facts.model_id, facts.prompt, settings], sort_keys=True))


def normalize_numbers(value: Any) -> Any:
    """Return a value with equal numbers in the same form, at every depth."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT:
        return int(value)
    if isinstance(value, dict):
        return {name: normalize_numbers(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [normalize_numbers(each) for each in value]
    return value


def body_of(
    request: Request, references: Mapping[str, str | list[str]] = MappingProxyType({})
) -> wire.StartGeneration:
    """Return the body of a start, with the ids of uploaded files."""
    return wire.StartGeneration(
        model_id=request.model.id,
        prompt=request.prompt,
        parameters=dict(request.parameters),
        media_uploads=dict(references),
        # other services may refuse fields that are not in the API document
        tags=dict(request.tags) if is_own(request.model) else {},
        file_metadata=request.file_metadata or not is_own(request.model),
    )


def new_generation(request: Request, receipt: wire.Receipt) -> wire.Generation:
    """Return the generation as it is known from its request and receipt, before it is fetched."""
    return wire.Generation(
        id=receipt.id,
        status=receipt.status,
        asset_type=receipt.asset_type or request.model.asset_type,
        model_id=request.model.id,
        model_name=request.model.title,
        prompt=request.prompt,
        parameters=dict(request.complete),
        tags=dict(request.tags),
        credits_charged=receipt.credits_charged,
        created_at=receipt.created_at,
    )


def digest_of(request: Request) -> str:
    """Return a hash that equal requests share: of model, prompt, parameters and files.

    Numbers are normalized: 7 equals 7.0.
    """
    media = {name: [f.sha256() for f in files] for name, files in request.media.items()}
    facts = [request.model.id, request.prompt, normalize_numbers(request.complete), media]
    return hash_text(json.dumps(facts, sort_keys=True, default=str), 64)


def separate_media(
    model: wire.Model, media: Any, given: Mapping[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the files and the settings of a request; files may be given among the settings."""
    named = {p.name: given[p.name] for p in model.media_parameters if p.name in given}
    rest = {name: value for name, value in given.items() if name not in named}
    named = {name: value for name, value in named.items() if value is not None}
    if not named or media is None:
        return named or media, rest
    if not isinstance(media, Mapping) or named.keys() & media.keys():
        names = ", ".join(map(repr, named))
        raise ParameterError(
            f"given twice, in media and by name: {names}; say media={{name: file}}"
        )
    return {**media, **named}, rest


def check_tags(tags: Any) -> dict[str, str]:
    """Return tags as they are sent, or raise an error that says what is wrong with them."""
    if not isinstance(tags or {}, Mapping):
        raise ParameterError(
            f"tags must be a mapping such as {{'campaign': 'winter'}}, not {tags!r}"
        )
    if problems := [*tag_problems(tags or {})]:
        raise ParameterError.fields(problems)
    return dict(tags or {})


def parse_timeout(timeout: Any) -> float | None:
    """Return the seconds to wait at most; None is without limit."""
    if timeout is not None and not (isinstance(timeout, Real) and float(timeout) >= 0):
        raise ParameterError(
            f"timeout must be None or a number of seconds, 0 or more, not {timeout!r}"
        )
    return None if timeout in (None, math.inf) else float(timeout)


def merge_parameters(
    parameters: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Merge settings given as a mapping and as keywords; each name may be given once."""
    if parameters is None:
        return dict(settings)
    if not isinstance(parameters, Mapping):
        raise ParameterError(
            "parameters must be a mapping of names to values, such as {'steps': 20}, not a "
            f"{type(parameters).__name__}"
        )
    if duplicates := parameters.keys() & settings.keys():
        names = ", ".join(map(repr, sorted(map(str, duplicates))))
        raise ParameterError(f"given twice, in parameters and by name: {names}")
    return {**parameters, **settings}


def script_request(
    topic: str,
    title: str | wire.Title,
    duration: float | str,
    use_hook: bool,
    use_cta: bool,
    use_ragebait: bool,
    variations: int,
    hook_angle: str | None = None,
) -> wire.WriteScripts:
    """Return the body of operation 9, with numbers as text, as in the API document."""
    if variations not in (1, 2):
        raise ParameterError(f"variations must be 1 or 2, not {variations!r}")
    suggested = title if isinstance(title, wire.Title) else wire.Title(title=title)
    with convert_errors():
        return wire.WriteScripts(
            topic=topic,
            title=json_text(suggested.title, "title") or "",
            duration=_whole_seconds(duration),
            hook_angle=json_text(hook_angle or suggested.hook_angle or None, "hook_angle"),
            use_hook=use_hook,
            use_cta=use_cta,
            use_ragebait=use_ragebait,
            variations=str(variations),
        )


@contextmanager
def convert_errors() -> Iterator[None]:
    """Raise validation errors of a body as `ParameterError`."""
    try:
        yield
    except ValidationError as error:
        problems = [(str(one["loc"][0]), one["msg"]) for one in error.errors()]
        raise ParameterError.fields(problems) from None


def _whole_seconds(duration: float | str) -> str:
    try:
        seconds = float(duration)
    except (TypeError, ValueError):
        seconds = 0.5
    if not seconds.is_integer() or seconds <= 0:
        raise ParameterError(f"duration must be a whole number of seconds, not {duration!r}")
    return str(int(seconds))


def read_file(file: Any, *, anchors: Path | str | None = None) -> FileMetadata:
    """Read the metadata of a file or generation: the request that made it, and who signed it.

    `anchors` is a file of the certificates (PEM) of trusted authorities. Raises `ConfigError` if
    the file does not exist or has no such metadata.
    """
    from kit import file_metadata

    path = user_path(getattr(file, "output", file))
    roots = user_path(anchors) if anchors else None
    for one in filter(None, (path, roots)):
        if not one.is_file():
            raise ConfigError(f"there is no file {str(one)!r}")
    signed = file_metadata.read_signed(path, roots)
    if (found := file_metadata.read(path) or signed) is None:
        raise ConfigError(
            f"{path.name} has no metadata about its generation: neither XMP of this toolkit nor "
            "text of AUTOMATIC1111 or ComfyUI"
        )
    return replace(found, signature=signed.signature) if signed else found


def settings_of_file(
    found: FileMetadata, model: wire.Model, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a file that a model has, with the changed ones.

    Settings that the model does not have, and unread ones of other programs' files, are left out
    and logged.
    """
    names = {parameter.name for parameter in model.setting_parameters}
    if dropped := [name for name in found.parameters if name not in names]:
        _log.warning("the model %s has no %s: left out", model.id, ", ".join(sorted(dropped)))
    if found.unread:
        _log.warning("other metadata of the file, left out: %s", "; ".join(found.unread))
    settings = {name: value for name, value in found.parameters.items() if name in names}
    return {**settings, **changes}


def is_id(value: Any) -> bool:
    """Whether a value may be the id of a generation, and is no file."""
    return isinstance(value, str) and bool(_ID.fullmatch(value)) and not Path(value).exists()


def resolve_media(media: Any) -> Flow[Any]:
    """Return input files with a file in place of each generation, output and URL.

    Files that are not on this computer are downloaded.
    """
    if isinstance(media, Mapping):
        named = {}
        for name, value in media.items():
            named[name] = yield from resolve_media(value)
        return named
    if isinstance(media, (list, tuple)):
        several = []
        for value in media:
            several.append((yield from resolve_media(value)))
        return several
    if uploads.is_web_url(media):
        return (yield FetchMedium(media))
    if is_id(media):
        sentence = f"a generation of that id is given as studio.history[{media!r}]"
        raise ParameterError(f"there is no file {media!r}; {sentence}")
    return (yield from media._kit_file()) if hasattr(media, "_kit_file") else media


def find_inputs(media: Any) -> Iterator[str]:
    """Yield the ids of generations among input files: objects, or files with metadata."""
    if isinstance(media, Mapping):
        media = list(media.values())
    if isinstance(media, (list, tuple)):
        for value in media:
            yield from find_inputs(value)
    elif hasattr(media, "_kit_file"):
        yield getattr(media, "generation", media).id
    elif isinstance(media, (str, Path)) and not uploads.is_web_url(media):
        from kit import file_metadata

        with suppress(OSError, ValueError):
            found = file_metadata.read(user_path(media))
            if found and found.generation_id:
                yield found.generation_id


#: Maximum depth of nested lists: deeper ones contain themselves.
_MAX_DEPTH = 20
_HALF_CHARACTER = "holds half a character (a lone surrogate), which no service can read"


class _UnsendableError(ValueError):
    """A value that cannot be sent; the message is the end of a sentence about it."""


def json_parameters(model: wire.Model, given: Mapping[Any, Any]) -> dict[str, Any]:
    """Return settings as JSON values; empty ones are left out."""
    names = {parameter.name for parameter in model.parameters}
    media = [parameter.name for parameter in model.media_parameters]
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, value in given.items():
        try:
            found = json_value(value)
        except _UnsendableError as error:
            is_unknown = media and name not in names  # such as a file under a wrong name
            sentence = f"unknown parameter{suggest(str(name), media)}" if is_unknown else str(error)
            problems.append((f"parameters.{name}", sentence))
            continue
        if found is not None:
            values[str(name)] = found
    if problems:
        raise ParameterError.fields(problems)
    return values


def json_text(value: Any, what: str) -> str | None:
    """Return a text without surrounding blanks, ready to send; None if there is none."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ParameterError.fields([(what, f"must be text, not {_shorten(value)}")])
    if not _has_whole_letters(value):
        raise ParameterError.fields([(what, _HALF_CHARACTER)])
    return str(value).strip() or None


def json_value(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON; missing values of pandas are None."""
    if depth > _MAX_DEPTH:
        raise _UnsendableError("contains itself")
    if value is None or isinstance(value, bool) or type(value) is int:
        return value
    for kind, convert in _CONVERTERS:
        if isinstance(value, kind):
            return convert(value, depth)
    foreign = type(value).__module__.partition(".")[0] in ("numpy", "pandas")
    if foreign and (hasattr(value, "item") or hasattr(value, "tolist")):
        return _unpack(value, depth)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise _UnsendableError(
        f"must be text, a number, true or false, or a list of them, not {_shorten(value)}"
    )


def _unpack(value: Any, depth: int) -> Any:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind == "M":
        value = value.astype("datetime64[us]")  # finer ones would become plain integers
    unpacked = value.tolist() if hasattr(value, "tolist") else value.item()
    if kind == "m" or type(unpacked) is type(value):
        raise _UnsendableError(f"must be a number or text, not {_shorten(value)}")
    return json_value(unpacked, depth + 1)


def _float(value: float, depth: int) -> float:
    if depth and not math.isfinite(value):  # a single number is checked by its parameter
        raise _UnsendableError(f"holds {value}, which cannot be sent")
    return float(value)


def _exact(value: Decimal | Fraction, depth: int) -> float | int:
    if isinstance(value, Decimal) and not value.is_finite():
        return _float(float(value), depth)
    return int(value) if value == int(value) else float(value)


def _string(value: str, _depth: int) -> str:
    if not _has_whole_letters(value):
        raise _UnsendableError(_HALF_CHARACTER)
    return str(value)


def _has_whole_letters(value: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    if malformed := [name for name in value if not isinstance(name, str)]:
        raise _UnsendableError(f"holds the name {_shorten(malformed[0])}: names are text")
    return {_string(name, depth): json_value(each, depth + 1) for name, each in value.items()}


#: Types of values -> how they are converted; the first match applies.
_CONVERTERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, int], Any]], ...] = (
    (enum.Enum, lambda value, depth: json_value(value.value, depth)),
    (str, _string),
    (int, lambda value, _: int(value)),
    (float, _float),
    ((Decimal, Fraction), _exact),
    (Mapping, _mapping),
    (
        (list, tuple, range, Iterator),
        lambda values, depth: [json_value(each, depth + 1) for each in values],
    ),
    # missing times of pandas are not equal to themselves
    (date, lambda value, _: value.isoformat() if value == value else None),
)


def _shorten(value: Any) -> str:
    """Return a value as shown in a message; if its own text fails, its type."""
    try:
        words = " ".join(ascii(value).split())
    except Exception:  # noqa: BLE001 - the repr of a foreign object may fail in any way
        words = f"a {type(value).__name__}"
    return words if len(words) <= 60 else f"{words[:57]}..."
