"""How the writing panel looks: its style sheet and its small pieces of HTML.

Colors are JupyterLab's own, so it follows the theme; a page without them gets the fallbacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from html import escape

from kit import wire
from kit.widgets import texts
from kit.widgets.cards import ARROW, BAD, BUSY, card, credits, facts, faint, figure
from kit.widgets.pile import PILED
from kit.widgets.snapshots import rerun_line
from kit.widgets.styles import load_style

#: Words in a second of speech, where a service does not say how long its script takes.
PACE = 2.5
#: Scripts that are kept of a panel in a saved notebook, the newest.
MOST = 6

_RULES = load_style(__package__, "writing.css")
SHEET = f"<style>{_RULES} {BAD} {BUSY} {PILED} .kit-writing{{{ARROW}}}</style>"

# Selecting works everywhere; the newer of the two ways to copy is missing on plain HTTP, the older
# one copies what is selected. A page that strips the action leaves a field to select from.
_COPY = (
    "const box=this.closest('.kit-script').querySelector('textarea');box.focus();box.select();"
    "const older=()=>document.execCommand('copy');"
    "if(navigator.clipboard){navigator.clipboard.writeText(box.value).catch(older)}else{older()}"
    "this.textContent='Copied';setTimeout(()=>{this.textContent='Copy'},1500)"
)


def heading() -> str:
    """Return the style sheet and what the panel begins with."""
    words = "Pick a topic, take a title, have a voice-over script written for it."
    title = '<b style="font-size:15px">Titles and scripts</b>'
    return f'{SHEET}{title}<div class="kit-note">{words}</div>'


def topic(name: str) -> str:
    """Return a topic as it is read.

    Examples
    --------
    >>> topic("LIFE_HACKS")
    'Life hacks'
    """
    return name.replace("_", " ").capitalize()


def price(each: Decimal, count: int, balance: Decimal | None) -> str:
    """Return what a click will cost, and whether the balance allows it.

    Examples
    --------
    >>> price(Decimal("0.15"), 1, None)
    '<b>0.15 credits</b>'
    """
    total = each * count
    terms = f" · {count} × {figure(each)}" if count > 1 else ""
    left = "" if balance is None or balance < total else f" · leaves {figure(balance - total)}"
    faint = f' <span class="kit-note">{escape((terms + left).strip(" ·"))}</span>'
    line = f"<b>{escape(credits(total))}</b>{faint if terms or left else ''}"
    if balance is not None and balance < total:
        line += f" {problem(f'not enough: {credits(balance)} there')}"
    return line


def problem(sentence: str) -> str:
    """Return what went wrong, announced to whoever does not see it."""
    return f'<span class="kit-bad" role="alert">{escape(sentence)}</span>'


def note(sentence: str) -> str:
    """Return a quiet sentence, announced when it changes."""
    return f'<span class="kit-note" role="status">{escape(sentence)}</span>'


def copy_button(name: str) -> str:
    """Return a button that copies the text of the script it stands below."""
    return (
        f'<button type="button" class="kit-copy" aria-label="Copy {escape(name)}" '
        f'onclick="{_COPY}">Copy</button>'
    )


def describe_length(script: wire.Script, text: str) -> str:
    """Return how long a text takes to speak and how many words it has.

    The script's own figures where its text is unchanged, else a pace taken from them.

    Examples
    --------
    >>> facts = wire.Metrics(duration="10", word_count=20)
    >>> measured(wire.Script(id="scr_1", content="One two", metrics=facts), "One two three four")
    'about 2 s to speak · 4 words'
    """
    if text == script.content:
        return texts.spoken(script)
    count = len(text.split())
    words = f"{count} word{'' if count == 1 else 's'}"
    return f"about {count / _pace(script):.0f} s to speak · {words}"


def snapshot(topic_name: str, title: wire.Title, scripts: Sequence[wire.Script], code: str) -> str:
    """Return the panel as it looks where no widget can be shown: what was written in it."""
    rows = {"topic": topic(topic_name), "title": title.title, "hook angle": title.hook_angle}
    top = card("Titles and scripts", facts(rows))
    older = len(scripts) - MOST
    more = faint(f"and {older} older scripts") if older > 0 else ""
    return "".join([top, *map(texts.script, scripts[:MOST]), more, rerun_line(code)])


def _pace(script: wire.Script) -> float:
    """Return the words that a script has in a second."""
    words, length = float(script.metrics.word_count), _seconds(script)
    return words / length if words > 0 and length > 0 else PACE


def _seconds(script: wire.Script) -> float:
    try:
        return max(0.0, float(script.metrics.duration))
    except ValueError:
        return 0.0
