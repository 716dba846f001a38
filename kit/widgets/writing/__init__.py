"""The writing panel: a topic, titles to choose from, and one or two variations of a script.

Each button shows its price. A click returns immediately; the request runs in the background, and
the panel shows errors.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from typing import Any, Protocol

import ipywidgets

from kit import wire
from kit.errors import KitError
from kit.parameters import script_problems
from kit.pricing import SCRIPT_CREDITS, TITLE_CREDITS
from kit.widgets import preview, prices
from kit.widgets.background import SETTLE_SECONDS, BackgroundRunner, ChangeCheck, guard
from kit.widgets.boxes import NewestFirst, close_with_styles
from kit.widgets.form.fields import watch_field
from kit.widgets.markup import card, facts, faint, label, note, problem, style_element
from kit.widgets.snapshots import SnapshotBox, rerun_line
from kit.wire import Parameter

#: Source: contract, "Titles and scripts".
DURATION = Parameter(name="duration", type="integer", default=30, minimum=10, maximum=180)
_TITLE_FIELD, _ANGLE_FIELD = Parameter(name="title"), Parameter(name="hook_angle")


@dataclass(frozen=True, slots=True)
class WritingOrder:
    """The options of a script."""

    topic: str
    title: wire.Title
    duration: int = 30
    use_hook: bool = False
    use_cta: bool = False
    use_ragebait: bool = False
    variations: int = 1


class WritingBackend(Protocol):
    """The service as the writing panel uses it; calls may block, so they run in the background."""

    def title(self, topic: str) -> wire.Title:
        """Return a title; it is charged."""

    def scripts(self, brief: WritingOrder) -> Sequence[wire.Script]:
        """Return one script per variation; they are charged."""

    def balance(self) -> Decimal | None:
        """Return the balance; None if the service does not report it."""

    def subscribe(self, call: Callable[[], None]) -> ChangeCheck:
        """Call a method after each change, on any thread; return a check for others' changes."""

    def captions(self, text: str) -> Any:
        """Return a widget that puts these captions on a video."""


#: Maximum of batches of scripts in the panel, and of scripts in its snapshot.
MAX_BATCHES, MAX_SAVED = 6, 6
# Selecting works everywhere; the newer way to copy is missing on plain HTTP, the older one copies
# the selection. If a page strips the action, the text can still be selected.
_COPY = (
    "const box=this.closest('.kit-script').querySelector('textarea');box.focus();box.select();"
    "const older=()=>document.execCommand('copy');"
    "if(navigator.clipboard){navigator.clipboard.writeText(box.value).catch(older)}else{older()}"
    "this.textContent='Copied';setTimeout(()=>{this.textContent='Copy'},1500)"
)
_HEADING = (
    f'{style_element(__package__, "writing.css")}<b style="font-size:15px">Titles and scripts</b>'
    '<div class="kit-note">Choose a topic and a title, then write a voice-over script.'
    "</div>"
)


class ScriptCard(ipywidgets.VBox):
    """A script with editable text; word count and length are updated while the user types."""

    def __init__(
        self,
        script: wire.Script,
        *,
        name: str,
        on_captions: Callable[[ScriptCard], None],
        on_change: Callable[[], None],
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
        """The text of the field."""
        return str(self._box.value)

    @property
    def current(self) -> wire.Script:
        """The script with the text of the field; the service's own if unchanged."""
        if self.text == self.script.content:
            return self.script
        return self.script.model_copy(update={"content": self.text})

    def __repr__(self) -> str:
        return f"<ScriptCard {self.script.title!r}>"

    def _tools(self, name: str, on_captions: Callable[[ScriptCard], None]) -> Any:
        button = ipywidgets.Button(
            description="Make captions", tooltip=f"Hand {name} to the video editor"
        )
        button.on_click(lambda _: on_captions(self))
        return _line(ipywidgets.HTML(copy_button(name)), button)

    def _update_length(self, _: Any = None) -> None:
        self._facts.value = note(describe_length(self.script, self.text))


class Writing(SnapshotBox):
    """A panel that suggests titles and writes scripts.

    Unless it is our `own` service, any topic and texts of any length can be typed.

    Examples
    --------
    ``panel = studio.writing("SPACE")``, and in a later cell ``panel.script.content``
    """

    def __init__(
        self,
        writer: WritingBackend,
        topic: str = wire.TOPICS[0],
        *,
        own: bool = True,
        awaited: bool = False,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._writer = writer
        self._own = own
        self._awaited = awaited
        self._lock = threading.RLock()
        self._titles: dict[str, list[wire.Title]] = {}
        self._balance: Decimal | None = None
        self._chosen: ScriptCard | None = None
        super().__init__(self._build(topic), "kit-writing", background)
        self._connect()
        self._show_prices()
        self.follow(writer.subscribe, self._load_balance)
        self._background.begin(self._load_balance)

    @property
    def title(self) -> wire.Title:
        """The title and the hook angle in the fields."""
        return wire.Title(title=self._title.value.strip(), hook_angle=self._angle.value.strip())

    @property
    def brief(self) -> WritingOrder:
        """The request that a click on the second button sends."""
        return WritingOrder(
            topic=self._topic.value,
            title=self.title,
            duration=self._duration.value,
            use_hook=self._use_hook.value,
            use_cta=self._use_cta.value,
            use_ragebait=self._use_ragebait.value,
            variations=self._variations.value,
        )

    @property
    def scripts(self) -> list[wire.Script]:
        """The scripts in the panel, newest first, with the user's edits."""
        return [card.current for batch in self._batches.shown for card in batch.children]

    @property
    def script(self) -> wire.Script | None:
        """The script last used for captions, else the newest; None before the first."""
        if self._chosen is not None:
            return self._chosen.current
        return next(iter(self.scripts), None)

    def __repr__(self) -> str:
        return f"<Writing {self._topic.value}>"

    def _html(self) -> str:
        topic = self._topic.value
        code = f"{'await ' if self._awaited else ''}studio.writing({json.dumps(topic)})"
        scripts, title = self.scripts, self.title
        word = label(topic).capitalize()
        rows = {"topic": word, "title": title.title, "hook angle": title.hook_angle}
        hidden = len(scripts) - MAX_SAVED
        more = faint(f"and {hidden} older scripts") if hidden > 0 else ""
        shown = (card("Titles and scripts", facts(rows)), *map(preview.script, scripts[:MAX_SAVED]))
        return "".join((*shown, more, rerun_line(code)))

    def _build(self, topic: str) -> list[Any]:
        new = ipywidgets
        once = ("kit-click-once",)
        words = [(label(name).capitalize(), name) for name in wire.TOPICS]
        names, kind = (words, new.Dropdown) if self._own else (wire.TOPICS, new.Combobox)
        grow = ("kit-grow",)
        self._topic = kind(options=names, value=topic, description="Topic", _dom_classes=grow)
        self._suggest = new.Button(description="Suggest a title", _dom_classes=once)
        self._title_price, self._script_price = new.HTML(), new.HTML()
        self._suggestions = new.RadioButtons(options=[], description="Suggestions")
        self._suggestions.layout.display = "none"
        self._title = new.Text(description="Title", placeholder="take a suggestion or type one")
        self._angle = new.Text(
            description="Hook angle", placeholder="idea for the opening; optional"
        )
        self._duration = new.IntSlider(
            DURATION.default,
            DURATION.minimum,
            DURATION.maximum,
            description="Seconds",
            tooltip="How long it takes to speak",
            _dom_classes=("kit-grow",),
        )
        self._use_hook = _switch("Hook", "Begin with a hook")
        self._use_cta = _switch("Call to action", "End with a call to action")
        self._use_ragebait = _switch("Provocative", "Include a provocative statement")
        self._variations = new.ToggleButtons(options=[1, 2], description="Variations")
        self._write = new.Button(button_style="primary", _dom_classes=once)
        self._message = new.HTML(_dom_classes=("kit-status",))
        self._batches = NewestFirst(MAX_BATCHES)
        self._captions = new.VBox()
        title, angle, length = self._fields = (
            watch_field(self._title, _TITLE_FIELD, lambda _: self._problems().get("title", "")),
            watch_field(self._angle, _ANGLE_FIELD, lambda _: self._problems().get("hookAngle", "")),
            watch_field(self._duration, DURATION, lambda _: ""),
        )
        return [
            new.HTML(_HEADING),
            _line(self._topic, self._suggest, self._title_price),
            self._suggestions,
            *(title.widget, title.note, angle.widget, angle.note),
            _line(self._duration, length.note, self._variations),
            _line(self._use_hook, self._use_cta, self._use_ragebait),
            _line(self._write, self._script_price),
            self._message,
            self._batches,
            self._captions,
        ]

    def _connect(self) -> None:
        def observe(widget: Any, call: Callable[[], None], trait: str = "value") -> None:
            widget.observe(guard(call, self._show_problem), trait)

        observe(self._topic, self._show_titles)
        observe(self._suggestions, self._take_title, "index")
        observe(self._variations, self._show_prices)
        for one in (self._topic, self._title, self._angle):
            observe(one, self.snapshot.follow)
        self._suggest.on_click(lambda _: self._begin_order(self._suggest_title))
        self._write.on_click(lambda _: self._begin_order(self._write_scripts))
        self._script.on_msg(self._receive)

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"field": int(), "text": str(text), "used": str(used)}:
                self._fields[2].check_typed(text, float(used))

    def _problems(self) -> dict[str, str]:
        """Return the problems of the input, by field; a title may still be missing."""
        title, angle = self._title.value.strip() or "-", self._angle.value
        order = wire.WriteScripts(topic=wire.TOPICS[0], title=title, duration="", hook_angle=angle)
        return dict(script_problems(order)) if self._own else {}

    # ── what clicks do ───────────────────────────────────────────────────────────────────────────

    def _show_problem(self, sentence: str) -> None:
        self._message.value = problem(sentence)

    def _begin_order(self, work: Callable[[], None]) -> None:
        """Run an order in the background, one at a time: two clicks do not pay twice."""
        if self._write.disabled:
            return  # sent before the page disabled the buttons

        def done(sentence: str = "") -> None:
            self._set_busy(None)
            self._show_problem(sentence)

        def run() -> None:
            work()
            done()

        self._set_busy("writing …")
        self._background.after(SETTLE_SECONDS, guard(run, done))

    def _set_busy(self, words: str | None) -> None:
        self._suggest.disabled = self._write.disabled = words is not None
        self._message.value = note(words) if words else ""

    def _suggest_title(self) -> None:
        topic = self._topic.value
        found = self._writer.title(topic)
        with self._lock:
            self._titles.setdefault(topic, []).append(found)
        self._script.send({"say": f"suggested: {found.title}"})
        if topic == self._topic.value:
            self._show_titles()

    def _show_titles(self) -> None:
        """Show the titles of the topic and select the newest."""
        with self._lock:
            titles = list(self._titles.get(self._topic.value, ()))
        options = [(found.title, index) for index, found in enumerate(titles)]
        self._suggestions.options = options
        self._suggestions.layout.display = None if options else "none"
        if options:
            self._suggestions.index = len(options) - 1
            self._take_title()

    def _take_title(self) -> None:
        titles = self._titles.get(self._topic.value, ())
        if self._suggestions.index is not None and self._suggestions.index < len(titles):
            found = titles[self._suggestions.index]
            self._title.value, self._angle.value = found.title, found.hook_angle

    def _write_scripts(self) -> None:
        brief = self.brief
        if not brief.title.title:
            raise KitError("a script needs a title: take a suggestion or type one")
        if problems := self._problems():
            raise KitError("; ".join(f"{name} {sentence}" for name, sentence in problems.items()))
        scripts = self._writer.scripts(brief)
        cards = [
            ScriptCard(
                one,
                name=f"script {number}",
                on_captions=self._captions_requested,
                on_change=self.snapshot.follow,
            )
            for number, one in enumerate(scripts, start=1)
        ]
        batch = ipywidgets.VBox(children=cards, _dom_classes=("kit-scripts",))
        with self._lock:
            self._chosen, before = None, self._batches.shown
            self._batches.add(batch)
        for old in before[MAX_BATCHES - 1 :]:
            close_with_styles(old)
        self.snapshot.follow()

    def _captions_requested(self, card: ScriptCard) -> None:
        def make() -> None:
            form = self._writer.captions(card.text)
            before, self._captions.children = self._captions.children, (form,)
            for old in before:
                close_with_styles(old)
            self._message.value = note("the captions are in the form below")

        self._chosen = card
        self._message.value = note("opening the video editor …")
        self._background.after(SETTLE_SECONDS, guard(make, self._show_problem))

    # ── prices ───────────────────────────────────────────────────────────────────────────────────

    def _load_balance(self) -> None:
        try:
            self._balance = self._writer.balance()
        except Exception:  # noqa: BLE001 - a price without a balance is still a price
            self._balance = None
        self._show_prices()

    def _show_prices(self) -> None:
        with self._lock:  # the balance arrives in the background, maybe during a click
            count = int(self._variations.value)
            self._title_price.value = price(TITLE_CREDITS, 1, self._balance)
            self._script_price.value = price(SCRIPT_CREDITS, count, self._balance)
            self._write.description = "Write a script" if count == 1 else f"Write {count} scripts"


def _switch(label: str, tooltip: str) -> Any:
    return ipywidgets.Checkbox(value=False, description=label, indent=False, tooltip=tooltip)


def _line(*children: Any) -> Any:
    return ipywidgets.HBox(children=children, _dom_classes=("kit-line",))


def price(each: Decimal, count: int, balance: Decimal | None) -> str:
    """Return the price of a click, and whether the balance covers it; see `prices.line`."""
    total = each * count
    term = wire.Term(kind="unit", parameter="variations", value=count, credits=total)
    affordable = None if balance is None else total <= balance
    terms = [term] if count > 1 else []
    return prices.line(wire.Quote(total=total, terms=terms, balance=balance, affordable=affordable))


def copy_button(name: str) -> str:
    """Return a button that copies the text of the script above it."""
    return (
        f'<button type="button" class="kit-copy" aria-label="Copy {escape(name)}" '
        f'onclick="{_COPY}">Copy</button>'
    )


def describe_length(script: wire.Script, text: str) -> str:
    """Return a text's speaking time and word count: the script's own, or estimated if edited."""
    if text == script.content:
        return preview.script_length(script)
    return preview.estimate_length(len(text.split()), _pace(script))


def _pace(script: wire.Script) -> float:
    try:
        words, length = float(script.metrics.word_count), float(script.metrics.duration)
    except ValueError:
        return preview.WORDS_PER_SECOND
    return words / length if words > 0 and length > 0 else preview.WORDS_PER_SECOND
