"""One script in the writing panel: its text to change, its length, and what to do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from html import escape
from typing import Any

import ipywidgets

from kit import wire
from kit.widgets import preview, prices
from kit.widgets.markup import card, count_of, facts, faint, note, style_element
from kit.widgets.snapshots import rerun_line

#: Words in a second of speech, where a service does not say how long its script takes.
PACE = 2.5
#: Scripts that are kept of a panel in a saved notebook, the newest.
MOST = 6

SHEET = style_element(__package__, "writing.css")

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
    """Return a topic as it is read."""
    return name.replace("_", " ").capitalize()


def price(each: Decimal, count: int, balance: Decimal | None) -> str:
    """Return what a click will cost, and whether the balance allows it; see `prices.line`."""
    total = each * count
    term = wire.Term(kind="unit", parameter="variations", value=count, credits=total)
    affordable = None if balance is None else total <= balance
    terms = [term] if count > 1 else []
    quote = wire.Quote(total=total, terms=terms, balance=balance, affordable=affordable)
    return prices.line(quote)


def copy_button(name: str) -> str:
    """Return a button that copies the text of the script it stands below."""
    return (
        f'<button type="button" class="kit-copy" aria-label="Copy {escape(name)}" '
        f'onclick="{_COPY}">Copy</button>'
    )


def describe_length(script: wire.Script, text: str) -> str:
    """Return how long a text takes to speak and how many words it has.

    The script's own figures where its text is unchanged, else a pace taken from them.
    """
    if text == script.content:
        return preview.spoken(script)
    count = len(text.split())
    return f"about {count / _pace(script):.0f} s to speak · {count_of(count, 'word')}"


def snapshot(topic_name: str, title: wire.Title, scripts: Sequence[wire.Script], code: str) -> str:
    """Return the panel as it looks where no widget can be shown: what was written in it."""
    rows = {"topic": topic(topic_name), "title": title.title, "hook angle": title.hook_angle}
    top = card("Titles and scripts", facts(rows))
    older = len(scripts) - MOST
    more = faint(f"and {older} older scripts") if older > 0 else ""
    return "".join([top, *map(preview.script, scripts[:MOST]), more, rerun_line(code)])


def _pace(script: wire.Script) -> float:
    try:
        words, length = float(script.metrics.word_count), float(script.metrics.duration)
    except ValueError:
        return PACE
    return words / length if words > 0 and length > 0 else PACE


class ScriptCard(ipywidgets.VBox):
    """A script whose text can be changed; words and length follow what is typed."""

    def __init__(
        self,
        script: wire.Script,
        *,
        name: str,
        on_captions: Callable[[ScriptCard], None] | None = None,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.script = script
        self._box = ipywidgets.Textarea(value=script.content, description=name.capitalize())
        self._facts = ipywidgets.HTML()
        self._box.observe(self._update_length, "value")
        self._box.observe(lambda _: on_change(), "value")
        self._update_length()
        super().__init__(
            children=[self._box, self._facts, self._tools(name, on_captions)],
            _dom_classes=("kit-script",),
        )

    @property
    def text(self) -> str:
        """The script as it stands in the field."""
        return str(self._box.value)

    @property
    def current(self) -> wire.Script:
        """The script with the text of the field; unchanged, it is the service's own."""
        if self.text == self.script.content:
            return self.script
        return self.script.model_copy(update={"content": self.text})

    def __repr__(self) -> str:
        return f"<ScriptCard {self.script.title!r}>"

    def _tools(self, name: str, on_captions: Callable[[ScriptCard], None] | None) -> Any:
        tools = [ipywidgets.HTML(copy_button(name))]
        if on_captions is not None:
            button = ipywidgets.Button(
                description="Make captions", tooltip=f"Hand {name} to the video editor"
            )
            button.on_click(lambda _: on_captions(self))
            tools.append(button)
        return ipywidgets.HBox(children=tools, _dom_classes=("kit-line",))

    def _update_length(self, _: Any = None) -> None:
        self._facts.value = note(describe_length(self.script, self.text))
