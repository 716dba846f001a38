"""How it is written down what shows a model at its best.

An example of a model is its first one with a few things changed; what is not named stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NONE", "Taste", "Variant"]


@dataclass(frozen=True, slots=True)
class Variant:
    """How an example differs from a model's first one.

    Parameters
    ----------
    prompt, media : str, mapping of str to sequence of str
        In place of the first example's; media are names of samples.
    caption : str
        What is said of it beside its settings.
    close : bool
        Show a small part of the input beside the same part of the picture that was made of it.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    prompt: str | None = None
    media: Mapping[str, Sequence[str]] = field(default_factory=dict)
    caption: str = ""
    close: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Taste:
    """A model's first example, and others that come before those of the rules.

    Parameters
    ----------
    most : int or None
        Examples of this model in all; None for as many as its kind may have.
    """

    prompt: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    media: Mapping[str, Sequence[str]] = field(default_factory=dict)
    variants: Sequence[Variant] = ()
    most: int | None = None


NONE = Taste()
