"""A request as Python: the statement equivalent to a form."""

from __future__ import annotations

import keyword
import unicodedata
from typing import Any

from kit.parameters import Request
from kit.widgets.form import controls

_WIDTH = 88
#: Argument names of `generate` and `form` themselves.
_RESERVED_NAMES = frozenset(
    ["self", "model", "prompt", "media", "n", "timeout", "again", "tags", "metadata", "parameters"]
)


def studio(profile: str = "", address: str = "", *, awaited: bool = False) -> str:
    """Return the expression for the studio that a form belongs to, never with a key.

    `profile`: the saved profile of the connection; everybody has ``default``.
    `address`: of a service logged in to without saving a profile; the expression asks for the key.
    """
    if address:
        return f'kit.login({_text(address)}, profile="")'
    if profile in ("", "default"):
        return "studio"
    given = f"(profile={_text(profile)})"
    return f"(await kit.aconnect{given})" if awaited else f"kit.connect{given}"


def statement(
    request: Request,
    *,
    awaited: bool = False,
    verb: str = "generate",
    studio: str = "studio",
    template: str = "",
) -> str:
    """Return the statement that makes a request, without values that are defaults.

    `verb`: the method of the studio: ``generate``, or ``form`` to show the request as a form.
    `template`: expression for the prompts of a template, such as ``kit.template({})``: a sweep.
    """
    arguments = [_text(request.model.id)]
    if request.prompt:
        text = _text(request.prompt)
        arguments.append(template.format(text) if template else text)
    files = {name: [path.as_posix() for path in paths] for name, paths in request.media.items()}
    if media := {name: f if len(f) > 1 else f[0] for name, f in files.items() if f}:
        arguments.append(f"media={_text(media)}")
    arguments += _settings(request)
    prefix = "await " if awaited else ""
    begin, end = f"{prefix}{studio}.{'sweep' if template else verb}(", ")"
    if template:
        begin, end = (f"await ({begin}", ")).run()") if awaited else (begin, ").run()")
    short = f"{begin}{', '.join(arguments)}{end}"
    if len(short) <= _WIDTH and "\n" not in short:
        return short
    return "\n".join([begin, *(f"    {argument}," for argument in arguments), end])


def changed_settings(request: Request) -> dict[str, Any]:
    """Return the required settings of a request, and those that differ from the defaults."""
    optional = (p for p in request.model.setting_parameters if not p.required)
    usual = {p.name: controls.default(p) for p in optional}
    return {
        name: value
        for name, value in request.parameters.items()
        if value != usual.get(name) or isinstance(value, bool) != isinstance(usual.get(name), bool)
    }


def _settings(request: Request) -> list[str]:
    keywords, others = [], {}
    for name, value in changed_settings(request).items():
        # Python normalizes names, so letters may change
        is_normal = unicodedata.normalize("NFKC", name) == name and name not in _RESERVED_NAMES
        if is_normal and name.isidentifier() and not keyword.iskeyword(name):
            keywords.append(f"{name}={_text(value)}")
        else:
            others[name] = value
    return [*keywords, *([f"parameters={_text(others)}"] if others else [])]


def _text(value: Any) -> str:
    """Return a value as Python, with text in double quotes."""
    if isinstance(value, str):
        quoted = repr(value)
        plain = quoted.startswith("'") and '"' not in value
        return f'"{quoted[1:-1]}"' if plain else quoted
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(k)}: {_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_text, value)) + "]"
    return repr(value)
