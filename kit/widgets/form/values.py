"""The values of a form: read off its fields, checked, and written back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit import parameters
from kit.errors import ParameterError
from kit.widgets import rules
from kit.widgets.form.field import Field
from kit.widgets.form.service import Request
from kit.wire import Model, Parameter

_PARTS = ("prompt", "parameters", "media")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a form holds.

    Parameters
    ----------
    settings : mapping or None
        The request's settings with every default filled in: what the price depends on. None where
        one of them is wrong.
    problems : mapping of str to str
        A sentence by field; empty where the request may be sent.
    """

    request: Request
    settings: Mapping[str, Any] | None
    problems: Mapping[str, str]


def prompt(model: Model) -> Parameter:
    """Return the prompt of a model as one more parameter."""
    return Parameter(name="prompt", type="string", required=model.prompt_required)


def default(one: Field) -> Any:
    """Return what a field shows where no value is given; a file has no default."""
    return None if one.path.startswith("mediaUploads.") else rules.default(one.parameter)


def checked(model: Model, fields: Iterable[Field]) -> Checked:
    """Read all fields and check what they hold, by the rules of the service."""
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
    settings, problems = _judged(request)
    if any(path.startswith("parameters.") for path in unread):
        settings = None
    return Checked(request, settings, {**problems, **unread})


def plain(request: Request) -> dict[str, Any]:
    """Return a request as the value of a form."""
    media = {name: [str(path) for path in paths] for name, paths in request.media.items()}
    return {
        "prompt": request.prompt,
        "parameters": dict(request.parameters),
        "media": media,
    }


def rows(request: Request) -> list[tuple[str, Any]]:
    """Return what a request asks for as names and values; of files only their names."""
    found: list[tuple[str, Any]] = [("prompt", request.prompt)] if request.prompt else []
    found += [(name, ", ".join(p.name for p in paths)) for name, paths in request.media.items()]
    return [*found, *request.parameters.items()]


def whole(
    model: Model, value: Mapping[str, Any], path: Callable[[Any], Path] = Path
) -> dict[str, Any]:
    """Return the value of a form by field, checked.

    Parameters
    ----------
    value : mapping
        ``{"prompt": ..., "parameters": {...}, "media": {...}}``; each part may be missing. Media
        may be one or a list of them; without a name they belong to the first media parameter.
    path : callable
        Returns the file of a medium.

    Raises
    ------
    ParameterError
        It names what the model does not take, or holds a value that the model would refuse.
    """
    problems = [
        (name, f"is no part of a form{parameters.suggest(name, _PARTS)}")
        for name in value
        if name not in _PARTS
    ]
    given = dict(value.get("parameters") or {})
    given = {name: item for name, item in given.items() if item is not None}
    known = {p.name: p for p in model.setting_parameters}
    for name, item in given.items():
        sentence = (
            parameters.problem_with(known[name], item)
            if name in known
            else f"unknown parameter{parameters.suggest(name, known)}"
        )
        if sentence:
            problems.append((f"parameters.{name}", sentence))
    media = _media(model, value.get("media"), path)
    text = value.get("prompt")
    optional = model.model_copy(
        update={
            "prompt_required": False,
            "media_parameters": [
                p.model_copy(update={"required": False}) for p in model.media_parameters
            ],
        }
    )
    problems += parameters.prompt_problems(optional, text)
    problems += parameters.media_problems(optional, media)
    if problems:
        raise ParameterError.fields(problems)
    by_path = {f"parameters.{name}": item for name, item in given.items()}
    by_path |= {f"mediaUploads.{name}": paths for name, paths in media.items()}
    return by_path | ({"prompt": text} if text else {})


def _judged(request: Request) -> tuple[dict[str, Any] | None, dict[str, str]]:
    model, media = request.model, request.media
    try:
        settings = parameters.check(
            model, prompt=request.prompt, parameters=request.parameters, media=media
        )
    except ParameterError as error:
        problems = {item["field"]: item["message"] for item in _details(error)}
        if any(path.startswith("parameters.") for path in problems):
            return None, problems
        # the price depends on the settings alone, and is worth knowing before there is a prompt
        return parameters.settings(model.setting_parameters, request.parameters)[0], problems
    return settings, {}


def _details(error: ParameterError) -> Iterable[Mapping[str, str]]:
    return error.details if isinstance(error.details, list) else ()


def _part(found: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {path.removeprefix(prefix): v for path, v in found.items() if path.startswith(prefix)}


def _media(model: Model, media: Any, path: Callable[[Any], Path]) -> dict[str, list[Path]]:
    if media is None:
        return {}
    if not isinstance(media, Mapping):
        if not model.media_parameters:
            raise ParameterError(f"the model {model.id!r} takes no media")
        media = {model.media_parameters[0].name: media}
    return {
        name: [path(item) for item in (value if isinstance(value, (list, tuple)) else (value,))]
        for name, value in media.items()
        if value is not None
    }
