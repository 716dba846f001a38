"""The values of a form: read from its fields, validated, and written back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kit import parameters
from kit.errors import BadRequestError, KitError, ParameterError
from kit.parameters import Request
from kit.widgets.form import controls
from kit.widgets.form.fields import Field
from kit.widgets.form.service import Variants
from kit.wire import Model

_PARTS = ("prompt", "parameters", "media")


@dataclass(frozen=True, slots=True)
class Checked:
    """The validated contents of a form.

    `settings`: the request's settings including all defaults, which the price depends on. None if
    one is invalid or missing.
    `incomplete`: whether the only problem with the settings is that some are missing.
    `variants`: the prompts if the prompt is a template.
    """

    request: Request
    settings: Mapping[str, Any] | None
    problems: Mapping[str, str]
    incomplete: bool = False
    variants: Variants | None = None


def check_fields(model: Model, fields: Iterable[Field]) -> Checked:
    """Read all fields and validate their values by the rules of the service."""
    found: dict[str, Any] = {}
    unread: dict[str, str] = {}
    for one in fields:
        try:
            value = one.read()
        except ValueError as problem:
            unread[one.path] = str(problem)
        else:
            if value is not None:
                found[one.path] = value
    request = Request(
        model,
        (found.pop("prompt", None) or "").strip() or None,
        _part(found, "parameters."),
        _part(found, "mediaUploads."),
    )
    settings, problems = _check_request(request)
    if settings is not None:
        parameters = {name: settings[name] for name in request.parameters if name in settings}
        request = replace(request, parameters=parameters)
    if malformed := _part(unread, "parameters."):
        settings = None
    problems = {**problems, **unread}
    given = {*request.parameters, *malformed}
    incomplete = given.isdisjoint(_part(problems, "parameters."))
    return Checked(request, settings, problems, incomplete)


def to_value(request: Request) -> dict[str, Any]:
    """Return a request as the value of a form."""
    media = {name: [path.as_posix() for path in paths] for name, paths in request.media.items()}
    return {"prompt": request.prompt, "parameters": dict(request.parameters), "media": media}


def read_value(
    model: Model, value: Mapping[str, Any], path: Callable[[Any], Path] = Path
) -> dict[str, Any]:
    """Return the value of a form by field, validated.

    Raises `ParameterError` if it has unknown names, or values that the model would refuse.

    `value`: ``{"prompt": ..., "parameters": {...}, "media": {...}}``; each part may be missing.
    Media may be one file or a list; without a name they are for the first media parameter.
    """
    found, problems = split_valid(model, value, path)
    if problems:
        raise ParameterError.fields(problems)
    return found


def split_valid(
    model: Model, value: Mapping[str, Any], path: Callable[[Any], Path] = Path
) -> tuple[dict[str, Any], list[parameters.Problem]]:
    """Return the valid part of a value, by field, and the problems with the rest."""
    problems = [
        (name, f"is not a part of a form{parameters.suggest(name, _PARTS)}")
        for name in value
        if name not in _PARTS
    ]
    found: dict[str, Any] = {}
    for part, read in (("prompt", _prompt), ("parameters", _settings), ("media", _media)):
        if value.get(part) is not None:
            valid, invalid = read(model, value[part], path)
            found |= valid
            problems += invalid
    refused = {name for name, _ in problems}
    return {name: item for name, item in found.items() if name not in refused}, problems


def problems_by_field(error: BaseException | None) -> dict[str, str]:
    """Return the messages about single fields in an error, which may hold anything."""
    details = error.details if isinstance(error, BadRequestError) else None
    return {
        entry["field"]: entry["message"]
        for entry in (details if isinstance(details, list) else ())
        if isinstance(entry, Mapping)
        and isinstance(entry.get("field"), str)
        and isinstance(entry.get("message"), str)
    }


def _check_request(request: Request) -> tuple[dict[str, Any] | None, dict[str, str]]:
    model, media = request.model, request.media
    try:
        settings = parameters.check(
            model, prompt=request.prompt, parameters=request.parameters, media=media
        )
    except ParameterError as error:
        problems = problems_by_field(error)
        if any(path.startswith("parameters.") for path in problems):
            return None, problems
        # the price depends on the settings only, and is useful before there is a prompt
        limits = parameters.limits_of(model)
        known = model.setting_parameters
        return parameters.check_settings(known, request.parameters, limits=limits)[0], problems
    return settings, {}


def _part(found: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {path.removeprefix(prefix): v for path, v in found.items() if path.startswith(prefix)}


#: Values by field, and problems with them.
_Parsed = tuple[dict[str, Any], list[parameters.Problem]]


def _prompt(model: Model, text: Any, _: Any) -> _Parsed:
    if not isinstance(text, str):
        return {}, [("prompt", "must be text")]
    optional = model.model_copy(update={"prompt_required": False})
    return {"prompt": text} if text else {}, list(parameters.prompt_problems(optional, text))


def _settings(model: Model, given: Any, _: Any) -> _Parsed:
    if not isinstance(given, Mapping):
        return {}, [("parameters", "must be values by name")]
    limits = parameters.limits_of(model)
    optional = (p.model_copy(update={"required": False}) for p in model.setting_parameters)
    known = {p.name: controls.with_control_type(p) for p in optional}
    found = {name: item for name, item in given.items() if item is not None}
    problems = parameters.check_settings([*known.values()], found, limits=limits)[1]
    return {f"parameters.{name}": item for name, item in found.items()}, problems


def _media(model: Model, media: Any, path: Callable[[Any], Path]) -> _Parsed:
    if not isinstance(media, Mapping):
        if not model.media_parameters:
            return {}, [("media", f"the model {model.id!r} takes no media")]
        media = {model.media_parameters[0].name: media}
    found: dict[str, list[Path]] = {}
    problems: list[parameters.Problem] = []
    for name, value in media.items():
        items = value if isinstance(value, (list, tuple)) else (value,)
        try:
            found[name] = [path(item) for item in items if item is not None]
        except (KitError, TypeError) as problem:
            problems.append((f"mediaUploads.{name}", str(problem)))
    optional = [p.model_copy(update={"required": False}) for p in model.media_parameters]
    problems += parameters.media_problems(
        model.model_copy(update={"media_parameters": optional}), found
    )
    return {f"mediaUploads.{name}": paths for name, paths in found.items() if paths}, problems
