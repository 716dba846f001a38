"""A model's parameters as a table that can be folded away."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from kit import wire

__all__ = ["count_of", "parameters"]


def parameters(model: wire.Model) -> str:
    """Return the table of a model's parameters; nothing where it has none."""
    if not model.parameters:
        return ""
    rows = "".join(_row(parameter) for parameter in model.parameters)
    name = escape(f"Parameters of {model.title or model.id}")
    return (
        f"<details><summary>{count_of(len(model.parameters), 'parameter')}</summary>"
        f'<div class="wide-table" role="region" tabindex="0" aria-label="{name}"><table><thead><tr>'
        '<th scope="col">Name</th><th scope="col">Type</th><th scope="col">Default</th>'
        '<th scope="col">Allowed</th><th scope="col">What it does</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, as ``1 model`` or ``2 models``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _row(parameter: wire.Parameter) -> str:
    needed = " <em>required</em>" if parameter.required else ""
    kind = f"{parameter.type} file" if parameter.media else parameter.type
    cells = (kind, _value(parameter.default), _allowed(parameter), parameter.description)
    return (
        f'<tr><th scope="row"><code>{escape(parameter.name)}</code>{needed}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    )


def _allowed(parameter: wire.Parameter) -> str:
    if parameter.enum:
        return _list(parameter.enum)
    low, high = _value(parameter.minimum), _value(parameter.maximum)
    if low and high:
        return f"{low} to {high}"
    if parameter.max_items:
        return f"up to {parameter.max_items}"
    return f"from {low}" if low else f"up to {high}" if high else ""


def _list(values: Iterable[Any]) -> str:
    return ", ".join(map(_value, values))


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
