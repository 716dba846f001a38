"""Likeness: whether a generation is the one that a request led to.

An id proves nothing by itself: a profile may have been pointed to another service, and one that was
set up anew counts from the beginning. A service may also show a request otherwise than it was sent,
a prompt that it has reworded for instance: so what it showed once is recognized, too.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from kit import wire

#: What is sent to leave a choice to the service, which shows its own then.
_ANY = -1
#: What every JSON reader still tells from its neighbors.
_EXACT = 2**53


def matches_request(
    facts: wire.Generation, asked: wire.StartGeneration, *, strictly: bool = False
) -> bool:
    """Return whether a generation shows what was asked for, as far as it shows anything.

    Parameters
    ----------
    strictly : bool
        Model and prompt must be shown: nothing else tells the generation from another one.
    """
    if facts.model_id != asked.model_id and (strictly or facts.model_id is not None):
        return False
    prompt, shown = (asked.prompt or "").strip(), facts.prompt
    if (shown or "").strip() != prompt and (strictly or shown is not None):
        return False
    return all(
        value == _ANY or normalize_numbers(settings[name]) == normalize_numbers(value)
        for settings in [facts.parameters or {}]
        for name, value in asked.parameters.items()
        if settings.get(name) is not None
    )


def fingerprint(facts: wire.Generation) -> str:
    """Return a hash of what a service shows of a request: model, prompt and plain settings.

    Addresses are left out, because they may be signed anew each time.
    """
    settings = {
        name: normalize_numbers(value)
        for name, value in (facts.parameters or {}).items()
        if isinstance(value, (str, int, float)) and "://" not in str(value)
    }
    text = json.dumps([facts.model_id, facts.prompt, settings], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def normalize_numbers(value: Any) -> Any:
    """Return a value in which equal numbers are written equally, at every depth.

    Examples
    --------
    >>> even({"size": 7.0, "steps": [1, 2.5], "on": True})
    {'size': 7, 'steps': [1, 2.5], 'on': True}
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    if isinstance(value, dict):
        return {name: normalize_numbers(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [normalize_numbers(each) for each in value]
    return value
