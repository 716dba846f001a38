"""How a form looks: its style sheet and its small pieces of HTML.

The style sheet travels with each form and touches nothing outside of it. Colors are JupyterLab's
own, so a form follows the theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from kit.widgets import rules
from kit.widgets.cards import ARROW, BAD, BUSY
from kit.widgets.pile import PILED
from kit.widgets.styles import load_style
from kit.wire import Model, Parameter

_RULES = load_style(__package__, "form.css")
SHEET = f"<style>{_RULES} {BAD} {BUSY} {PILED} .kit-form{{{ARROW}}}</style>"


def heading(model: Model) -> str:
    """Return the style sheet, and what a form begins with: the model in two lines."""
    facts = " · ".join(filter(None, (model.asset_type, model.category)))
    text = f'<div class="kit-note">{escape(model.description)}</div>' if model.description else ""
    title = f'<b style="font-size:15px">{escape(model.title or model.id)}</b>'
    return f'{SHEET}{title} <span class="kit-note">{escape(facts)}</span>{text}'


def label(parameter: Parameter) -> str:
    """Return what stands before a control; a star marks what has to be there."""
    return f"{parameter.name.replace('_', ' ')}{' *' if parameter.required else ''}"


def help_text(parameter: Parameter) -> str:
    """Return what a parameter is for, and the limits that its control does not show."""
    words = " · ".join(filter(None, (parameter.description, rules.limits(parameter))))
    return f'<span class="kit-note">{escape(words)}</span>' if words else ""


def problem(sentence: str) -> str:
    """Return what is wrong, announced to whoever does not see it."""
    return f'<span class="kit-bad" role="alert">{escape(sentence)}</span>'


def notice(sentence: str) -> str:
    """Return what one should know but need not mend, announced as well."""
    return f'<span class="kit-told" role="status">{escape(sentence)}</span>'


def missing(problems: Mapping[str, str]) -> str:
    """Return which fields need attention, by name; nothing where none does."""
    if not problems:
        return ""
    names = [path.rpartition(".")[2].replace("_", " ") for path in problems]
    return f'<div class="kit-note">missing or wrong: {escape(", ".join(names))}</div>'


def code(text: str) -> str:
    """Return Python as it stands in a cell."""
    return f'<pre class="kit-code">{escape(text)}</pre>'
