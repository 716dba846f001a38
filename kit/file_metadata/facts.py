"""What can be said of how a file came to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: How a file came to be, in the words of IPTC: painted by rule, edited by rule, made by a model
#: that was trained, edited by one.
ALGORITHMIC, ENHANCED = "algorithmicMedia", "algorithmicallyEnhanced"
TRAINED, COMPOSITE = "trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMetadata:
    """What made a file, as far as it is known.

    Parameters
    ----------
    parameters : mapping
        The settings, the seed among them.
    source_type : str or None
        How it came to be, a term of IPTC such as `ALGORITHMIC`.
    inputs : sequence of str
        Ids of the generations whose outputs went in.
    unread : sequence of str
        What a file of another program says besides, and has no place here.
    """

    model: str | None = None
    prompt: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    generation_id: str | None = None
    service: str | None = None
    software: str | None = None
    source_type: str | None = None
    inputs: Sequence[str] = ()
    unread: Sequence[str] = ()
