"""Writing from a studio: what `kit.widgets.writing` needs, made of a operations and a client.

Every call blocks; the panel makes them in the background. It is the same for both faces.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.client import calls, flows
from kit.errors import KitError, ParameterError
from kit.parameters import suggest
from kit.studio import forms
from kit.studio.generation import Session

if TYPE_CHECKING:
    from kit.widgets.writing import Writing, WritingOrder


def script_request(
    topic: str,
    title: str | wire.Title,
    duration: float | str,
    hook_angle: str | None,
    use_hook: bool,
    use_cta: bool,
    use_ragebait: bool,
    variations: int,
) -> wire.WriteScripts:
    """Return the body of operation 9, with numbers as the text that the wire wants.

    Raises
    ------
    ParameterError
        The duration is no whole number of seconds, or there would be neither one nor two scripts.
    """
    if variations not in (1, 2):
        raise ParameterError(f"variations must be 1 or 2, not {variations!r}")
    suggested = title if isinstance(title, wire.Title) else wire.Title(title=title)
    return wire.WriteScripts(
        topic=topic,
        title=suggested.title,
        duration=_seconds(duration),
        hook_angle=hook_angle or suggested.hook_angle or None,
        use_hook=use_hook,
        use_cta=use_cta,
        use_ragebait=use_ragebait,
        variations=str(variations),
    )


def _seconds(duration: float | str) -> str:
    try:
        whole = float(duration)
    except (TypeError, ValueError):
        whole = 0.5
    if not whole.is_integer() or whole <= 0:
        raise ParameterError(f"duration must be a whole number of seconds, not {duration!r}")
    return str(int(whole))


class ScriptList(list[wire.Script]):
    """The scripts of one request, shown side by side in a notebook."""

    def _repr_html_(self) -> str:
        from kit.widgets import preview

        return "".join(map(preview.script, self))


#: The setting that takes the text of captions, in whatever model has it.
_CAPTIONS = "captions"


class WritingService:
    """A service as the writing panel sees it."""

    def __init__(self, session: Session[Any]) -> None:
        self._session = session
        self._operations = session.operations
        self._client = session.client

    def title(self, topic: str) -> wire.Title:
        """Return a title; it is charged for."""
        return self._client.block(self._operations.billing.title(topic))

    def scripts(self, brief: WritingOrder) -> Sequence[wire.Script]:
        """Return one script a variation; they are charged for."""
        order = script_request(
            brief.topic,
            brief.title,
            brief.duration,
            None,
            brief.use_hook,
            brief.use_cta,
            brief.use_ragebait,
            brief.variations,
        )
        return self._client.block(self._operations.billing.scripts(order))

    def balance(self) -> Decimal | None:
        """Return what there is to spend; None where the service does not tell."""
        return self._client.block(flows.ask(calls.get_account(), flows.ONCE)).credits

    def captions(self, text: str) -> Any:
        """Return the form of the model that takes captions, with these filled in.

        Raises
        ------
        KitError
            The service has no such model.
        """
        models = self._client.block(self._operations.models()).values()
        model = next((m for m in models if _takes_captions(m)), None)
        if model is None:
            raise KitError("no model of this service takes captions; copy the text instead")
        given = {_CAPTIONS: text}
        return forms.build_form(self._session, model, None, None, given)


def build_writing(session: Session[Any], topic: str) -> Writing:
    """Return the writing panel of a studio.

    Raises
    ------
    ParameterError
        There is no such topic.
    """
    from kit.widgets.writing import Writing

    if topic not in wire.TOPICS:
        raise ParameterError(f"unknown topic {topic!r}{suggest(topic, wire.TOPICS)}")
    return Writing(WritingService(session), topic, awaited=session.awaited)


def _takes_captions(model: wire.Model) -> bool:
    takes_video = any(p.type == "video" for p in model.media_parameters)
    return takes_video and any(p.name == _CAPTIONS for p in model.setting_parameters)
