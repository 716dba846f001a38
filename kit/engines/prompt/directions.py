"""Directions: what a prompt asks of the camera and of the passing of time.

Only what is said of a camera counts: a sun may rise and a planet orbit in front of one that stands
still. What is denied ("no zoom") directs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

#: What stands for a setting that follows the prompt.
AUTO = "auto"

_HOW = (
    r"(?: (?:very|slow|slowly|gentle|gently|smooth|smoothly|quick|quickly|fast|shot|move|to|the))*"
)
_CAMERA = rf"(?:camera|lens|shot|view|drone|we|flight|flying|fly){_HOW}"
_MOVED = rf"(?:moves?|moving){_HOW}"
_SWEPT = rf"(?:moves?|moving|sweeps?|slides?|turns?){_HOW}"
_SEEN = r"(?:camera|drone|shot|flight|view)"

#: Camera -> what is said for it, in plain lower case with single spaces.
_MOVES: Mapping[str, str] = {
    "still": r"(?:static|fixed|locked(?: off| down)?|motionless|tripod) (?:camera|shot|frame|view)"
    rf"|camera (?:is |stays |stands )?(?:static|fixed|still|locked)|on a tripod|hovering {_SEEN}",
    "push": rf"(?:zoom(?:s|ing)?|push(?:es|ing)?|dolly(?:ing)?){_HOW} in\b"
    rf"|{_CAMERA} {_MOVED} (?:in|closer|forwards?)\b",
    "pull": rf"(?:zoom(?:s|ing)?|dolly(?:ing)?){_HOW} out\b"
    rf"|pull(?:s|ing)?{_HOW} (?:back|out|away)\b|{_CAMERA} {_MOVED} (?:back|backwards?|away)\b",
    "pan_left": rf"pan(?:s|ning)?{_HOW} left\b|left pan\b|{_CAMERA} {_SWEPT} left\b",
    "pan_right": rf"pan(?:s|ning)?{_HOW} right\b|right pan\b|{_CAMERA} {_SWEPT} right\b",
    "rise": rf"(?:crane|cranes|craning|boom|pedestal|tilt|tilts|tilting){_HOW} up\b|crane shot"
    rf"|{_CAMERA} (?:rises?|rising|ascends?|ascending|climbs?|climbing|moves? up|upwards?)\b"
    rf"|(?:rising|ascending|climbing) {_SEEN}",
    "descend": rf"{_CAMERA} (?:descend(?:s|ing)?|dives?|diving|sinks?|land(?:s|ing)?|down)\b"
    rf"|(?:descending|diving|landing) {_SEEN}|(?:crane|pedestal) down\b",
    "arc": rf"(?:arc|orbit|orbital) shot|{_CAMERA} (?:orbits?|circles?|arcs?|around)\b"
    rf"|{_CAMERA} (?:orbit|circl|arc)ing\b|(?:orbit|circl|arc)ing {_SEEN}",
    "skim": rf"{_CAMERA} (?:low|close) (?:over|above|to|across)\b|(?:low|skimming) flight"
    rf"|{_CAMERA} (?:skims?|skimming)\b|skim(?:s|ming)? (?:over|across|the)\b",
    "high": rf"{_CAMERA} high (?:over|above|up)\b|high flight|(?:from )?high above"
    r"|bird ?s ?eye|from (?:the air|far above)|aerial (?:shot|view|footage)",
    "forward": rf"{_CAMERA} (?:straight|forwards?|ahead)\b|straight (?:flight|ahead)",
    "drift": r"drift(?:s|ing)? camera|camera drifts?\b|slow drift\b",
    "glide": rf"{_CAMERA} (?:glides?|gliding)\b|gliding {_SEEN}",
}
#: What models call the same.
_ALIKE: Mapping[str, str] = {"orbit": "arc"}
#: Hours -> what is said for them.
_HOURS: Mapping[str, str] = {
    "night_to_day": r"(?:night|dusk|midnight)(?: \w+)? (?:in)?to (?:the )?(?:day|daylight|dawn"
    r"|morning|sunrise|noon)\b|night becomes day|until (?:dawn|morning|sunrise)",
    "day_to_night": r"(?:day|daylight|noon|morning|afternoon|sunset|dawn|sunrise)(?: \w+)?"
    r" (?:in)?to (?:the )?(?:night|dusk|nightfall|midnight|darkness)\b|day becomes night"
    r"|until (?:night|dark)|night falls|nightfall|time ?lapse|hyper ?lapse",
}
_DENIED = re.compile(r"\b(?:no|without|not|never|dont|do not)(?: \w+){0,2} $")


def camera_for(asked: str, prompt: str, moves: Collection[str], otherwise: str) -> str:
    """Return how the camera moves: as was asked for, else as the prompt says, else as usual.

    Parameters
    ----------
    asked : str
        The setting; `AUTO` follows the prompt.
    moves : collection of str
        What the model can do; what else is said counts for nothing.

    Examples
    --------
    >>> camera_for("auto", "Slow pan to the left over a lake", ["push", "pan_left"], "push")
    'pan_left'
    >>> camera_for("auto", "the sun rises over a lake", ["push", "rise"], "push")
    'push'
    """
    if asked != AUTO:
        return asked
    ways = {move: _MOVES[_ALIKE.get(move, move)] for move in moves if move != AUTO}
    return _said(prompt, ways) or otherwise


def hours_for(asked: str, prompt: str) -> str:
    """Return which hours pass: as was asked for, else as the prompt says, else none.

    Examples
    --------
    >>> hours_for("auto", "A valley from day to night")
    'day_to_night'
    >>> hours_for("auto", "a valley by night")
    'fixed'
    """
    return asked if asked != AUTO else _said(prompt, _HOURS) or "fixed"


def _said(prompt: str, ways: Mapping[str, str]) -> str | None:
    """Return what a prompt says first."""
    plain = " ".join(re.findall(r"[a-z0-9]+", prompt.casefold().replace("'", "")))
    found = {
        match.start(): name
        for name, pattern in ways.items()
        for match in re.finditer(rf"\b(?:{pattern})", plain)
        if not _DENIED.search(plain[: match.start()])
    }
    return found[min(found)] if found else None
