"""Scripts: what is sent for them, and how they show themselves."""

from __future__ import annotations

from kit import wire
from kit.errors import ParameterError


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
