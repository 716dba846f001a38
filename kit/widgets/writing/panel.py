"""The writing panel: a topic, titles to pick from, a script in one or two variations.

What a click costs stands beside its button. A click returns at once; writing goes on in the
background, and what went wrong is shown in the panel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import ipywidgets

from kit import wire
from kit.errors import KitError
from kit.widgets.accessibility import Accessibility
from kit.widgets.background import FOLLOWING, BackgroundRunner, Look, Throttled
from kit.widgets.boxes import NewestFirst
from kit.widgets.markup import error_text, note, problem
from kit.widgets.snapshots import StaticSnapshot
from kit.widgets.writing import scripts
from kit.widgets.writing.scripts import ScriptCard

#: Credits for a title, and for each variation of a script. Source: API document, "Limits".
TITLE, SCRIPT = Decimal("0.05"), Decimal("0.15")
#: Seconds that a script may take to speak. Source: contract, "Titles and scripts".
SHORTEST, LONGEST, USUAL = 10, 180, 30


@dataclass(frozen=True, slots=True)
class WritingOrder:
    """What a script is asked to be."""

    topic: str
    title: wire.Title
    duration: int = USUAL
    use_hook: bool = False
    use_cta: bool = False
    use_ragebait: bool = False
    variations: int = 1


class WritingBackend(Protocol):
    """Whoever writes, as the panel sees it; every call may block, none is made in a callback."""

    def title(self, topic: str) -> wire.Title:
        """Return a title; it is charged for."""

    def scripts(self, brief: WritingOrder) -> Sequence[wire.Script]:
        """Return one script a variation; they are charged for."""

    def balance(self) -> Decimal | None:
        """Return what there is to spend; None where the service does not say."""

    def subscribe(self, call: Callable[[], None]) -> Look:
        """Have a method called, on any thread, after each change; return what looks for others'."""

    def captions(self, text: str) -> Any:
        """Return a widget that puts these captions on a video."""


#: Seconds between a click and reading the fields: what was typed last may arrive after the click.
SETTLING = 0.12
#: Batches of scripts that stay in the panel.
MOST_BATCHES = 6


class Writing(ipywidgets.VBox):
    """A panel that suggests titles and writes scripts.

    Parameters
    ----------
    writer : Writer
        Who is asked.
    topic : str
        One of `kit.wire.TOPICS`.
    awaited : bool
        Whether the statement that brings the panel back is awaited.

    Examples
    --------
    ``panel = studio.writing("SPACE")``, and in a later cell ``panel.script.content``
    """

    def __init__(
        self,
        writer: WritingBackend,
        topic: str = wire.TOPICS[0],
        *,
        awaited: bool = False,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._writer = writer
        self._awaited = awaited
        self._background = background or BackgroundRunner()
        self._snapshot = StaticSnapshot(background=self._background)
        self._lock = threading.RLock()
        self._titles: dict[str, list[wire.Title]] = {}
        self._balance: Decimal | None = None
        self._chosen: ScriptCard | None = None
        self._make_controls(topic)
        reach = Accessibility()
        super().__init__(children=[*self._arrange(), reach], _dom_classes=("kit-writing",))
        reach.belong(self)
        self._connect()
        self._show_prices()
        self._follow = Throttled(self._load_balance, FOLLOWING, self._background)
        reach.follow(writer.subscribe(self._follow.request))
        self._background.begin(self._load_balance)

    @property
    def title(self) -> wire.Title:
        """The title and the hook angle as they stand in the fields."""
        return wire.Title(title=self._title.value.strip(), hook_angle=self._angle.value.strip())

    @property
    def brief(self) -> WritingOrder:
        """What a click on the second button asks for."""
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
        """The scripts in the panel, newest first, with what was changed in them."""
        return [card.current for batch in self._batches.shown for card in batch.children]

    @property
    def script(self) -> wire.Script | None:
        """The script that captions were made of, else the newest; None before the first."""
        if self._chosen is not None:
            return self._chosen.current
        return next(iter(self.scripts), None)

    def __repr__(self) -> str:
        return f"<Writing {self._topic.value}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the widget, and what is shown of it where no widget can be."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        topic = self._topic.value
        code = f'{"await " if self._awaited else ""}studio.writing("{topic}")'
        html = scripts.snapshot(topic, self.title, self.scripts, code)
        return {**bundle, "text/plain": repr(self), "text/html": html}

    def _ipython_display_(self) -> None:
        self._snapshot.show(self._repr_mimebundle_)

    # ── what it is made of ───────────────────────────────────────────────────────────────────────

    def _make_controls(self, topic: str) -> None:
        new = ipywidgets
        once = ("kit-click-once",)
        topics = [(scripts.topic(name), name) for name in wire.TOPICS]
        self._topic = new.Dropdown(options=topics, value=topic, description="Topic")
        self._suggest = new.Button(description="Suggest a title", _dom_classes=once)
        self._title_price, self._script_price = new.HTML(), new.HTML()
        self._suggestions = new.RadioButtons(options=[], description="Suggestions")
        self._suggestions.layout.display = "none"
        self._title = new.Text(description="Title", placeholder="take a suggestion or type one")
        self._angle = new.Text(description="Hook angle", placeholder="what to open with; optional")
        self._duration = new.IntSlider(
            USUAL, SHORTEST, LONGEST, description="Seconds", tooltip="How long it takes to speak"
        )
        self._use_hook = _switch("Hook", "Begin with a sentence that makes people stay")
        self._use_cta = _switch("Call to action", "End by asking for a like, a follow, a comment")
        self._use_ragebait = _switch("Provocative", "Take a side that people will argue with")
        self._variations = new.ToggleButtons(options=[1, 2], description="Variations")
        self._write = new.Button(button_style="primary", _dom_classes=once)
        self._message = new.HTML(_dom_classes=("kit-status",))
        self._batches = NewestFirst(MOST_BATCHES)
        self._captions = new.VBox()

    def _arrange(self) -> list[Any]:
        self._topic.add_class("kit-grow")
        self._duration.add_class("kit-grow")
        return [
            ipywidgets.HTML(scripts.heading()),
            _line(self._topic, self._suggest, self._title_price),
            self._suggestions,
            self._title,
            self._angle,
            _line(self._duration, self._variations),
            _line(self._use_hook, self._use_cta, self._use_ragebait),
            _line(self._write, self._script_price),
            self._message,
            self._snapshot.style,
            self._batches,
            self._captions,
        ]

    def _connect(self) -> None:
        self._topic.observe(self._guarded(self._show_titles), "value")
        self._suggestions.observe(self._guarded(self._take_title), "index")
        self._variations.observe(self._guarded(self._show_prices), "value")
        for one in (self._topic, self._title, self._angle):
            one.observe(self._guarded(self._snapshot.follow), "value")
        self._suggest.on_click(self._guarded(lambda: self._begin_order(self._suggest_title)))
        self._write.on_click(self._guarded(lambda: self._begin_order(self._write_scripts)))

    # ── what clicks do ───────────────────────────────────────────────────────────────────────────

    def _guarded(self, call: Callable[[], None]) -> Callable[[Any], None]:
        """Return a callback whose errors are seen: an error in a callback shows nowhere."""

        def act(_: Any) -> None:
            try:
                call()
            except Exception as error:  # noqa: BLE001 - said in the panel
                self._message.value = problem(error_text(error))

        return act

    def _begin_order(self, work: Callable[[], None]) -> None:
        """Run an order in the background, one at a time: two clicks do not pay twice."""
        if self._write.disabled:
            return  # it was sent before the page knew that the buttons rest
        self._set_busy("writing …")
        self._background.after(SETTLING, lambda: self._run_order(work))

    def _run_order(self, work: Callable[[], None]) -> None:
        try:
            work()
            self._set_busy(None)
        except Exception as error:  # noqa: BLE001 - said in the panel
            self._set_busy(None)
            self._message.value = problem(error_text(error))

    def _set_busy(self, words: str | None) -> None:
        self._suggest.disabled = self._write.disabled = words is not None
        self._message.value = note(words) if words else ""

    def _suggest_title(self) -> None:
        topic = self._topic.value
        found = self._writer.title(topic)
        with self._lock:
            self._titles.setdefault(topic, []).append(found)
        if topic == self._topic.value:
            self._show_titles()

    def _show_titles(self) -> None:
        """Show the titles of the topic and take the newest."""
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
        scripts = self._writer.scripts(brief)
        cards = [
            ScriptCard(
                one,
                name=f"script {number}",
                on_captions=self._captions_requested,
                on_change=self._snapshot.follow,
            )
            for number, one in enumerate(scripts, start=1)
        ]
        batch = ipywidgets.VBox(children=cards, _dom_classes=("kit-scripts",))
        with self._lock:
            self._chosen = None
            self._batches.add(batch)
        self._snapshot.follow()

    def _captions_requested(self, card: ScriptCard) -> None:
        self._chosen = card
        self._message.value = note("opening the video editor …")
        self._background.after(SETTLING, self._open_captions)

    def _open_captions(self) -> None:
        card = self._chosen
        try:
            self._captions.children = (self._writer.captions(card.text),) if card else ()
            self._message.value = note("the captions are in the form below")
        except Exception as error:  # noqa: BLE001 - said in the panel
            self._message.value = problem(error_text(error))

    # ── prices ───────────────────────────────────────────────────────────────────────────────────

    def _load_balance(self) -> None:
        try:
            self._balance = self._writer.balance()
        except Exception:  # noqa: BLE001 - a price without a balance is still a price
            self._balance = None
        self._show_prices()

    def _show_prices(self) -> None:
        count = int(self._variations.value)
        self._title_price.value = scripts.price(TITLE, 1, self._balance)
        self._script_price.value = scripts.price(SCRIPT, count, self._balance)
        self._write.description = "Write a script" if count == 1 else f"Write {count} scripts"


def _switch(label: str, tooltip: str) -> Any:
    return ipywidgets.Checkbox(value=False, description=label, indent=False, tooltip=tooltip)


def _line(*children: Any) -> Any:
    return ipywidgets.HBox(children=children, _dom_classes=("kit-line",))
