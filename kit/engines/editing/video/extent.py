"""How much of a video is asked for, and whether there is so much; said before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kit.engines.sizes import LONGEST

#: What is longer by this much is let pass: files are not exact about their length.
_SLACK = 0.5


class Fault(NamedTuple):
    """What is wrong with an order: a parameter or a medium, a sentence, and a code."""

    field: str
    sentence: str
    code: str


def edit_faults(values: Mapping[str, Any], whole: float | None) -> Iterator[Fault]:
    """Yield what is wrong with the part of a video that is asked for.

    Parameters
    ----------
    whole : float or None
        Seconds of the video; None where nobody knows yet.
    """
    start, end = float(values["start"]), values.get("end")
    if whole is not None and whole > LONGEST + _SLACK:
        sentence = f"the video lasts {whole:,.0f} s; at most {LONGEST} s can be edited"
        yield Fault("video", sentence, "too_long")
    elif whole is not None and start >= whole:
        sentence = f"the part begins at {start:g} s, but the video lasts only {whole:.3g} s"
        yield Fault("start", sentence, "bad_range")
    elif end is not None and end <= start:
        sentence = f"the part ends at {end:g} s, but begins at {start:g} s"
        yield Fault("end", sentence, "bad_range")
    elif whole is not None:
        seconds = edit_seconds(values, whole)
        if seconds > LONGEST + _SLACK:
            sentence = (
                f"at this speed the result would last {seconds:,.0f} s; at most {LONGEST} s are"
                " possible: choose a shorter part or a higher speed"
            )
            yield Fault("speed", sentence, "too_long")


def edit_seconds(values: Mapping[str, Any], whole: float) -> float:
    """Return how long the result of an edit is, of a video of so many seconds."""
    start, end = float(values["start"]), values.get("end")
    return (min(whole if end is None else end, whole) - start) / float(values["speed"])


def join_faults(lengths: Sequence[float]) -> Iterator[Fault]:
    """Yield that clips of such lengths, in seconds, are too much for one join."""
    total = sum(lengths)
    if total > LONGEST + _SLACK:
        sentence = f"the clips last {total:,.0f} s together; at most {LONGEST} s can be joined"
        yield Fault("clips", sentence, "too_long")
