"""One script in the writing panel: its text to change, its length, and what to do with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets

from kit import wire
from kit.widgets.writing import markup


class ScriptCard(ipywidgets.VBox):
    """A script whose text can be changed; words and length follow what is typed.

    Parameters
    ----------
    name : str
        What it is called, for whoever does not see it: "script 1".
    on_captions : callable, optional
        Called with this card when captions are asked for; without it there is no such button.
    on_change : callable
        Called when the text was changed.

    Examples
    --------
    >>> card = ScriptCard(wire.Script(id="scr_1", content="A lake."), name="script 1")
    >>> card.text
    'A lake.'
    """

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
        self._box.observe(self._measure, "value")
        self._box.observe(lambda _: on_change(), "value")
        self._measure()
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
        tools = [ipywidgets.HTML(markup.copy_button(name))]
        if on_captions is not None:
            button = ipywidgets.Button(
                description="Make captions", tooltip=f"Hand {name} to the video editor"
            )
            button.on_click(lambda _: on_captions(self))
            tools.append(button)
        return ipywidgets.HBox(children=tools, _dom_classes=("kit-line",))

    def _measure(self, _: Any = None) -> None:
        self._facts.value = markup.note(markup.describe_length(self.script, self.text))
