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
class Signature:
    """Who signed a file (C2PA), as far as it could be looked at.

    Parameters
    ----------
    signer : str or None
        The name in the certificate: anybody can write any name into one of their own.
    valid : bool or None
        Whether the file is as it was signed; None where that could not be checked.
    trusted : bool
        Whether the certificate comes from an authority that the reader has named.
    problems : sequence of str
        What was found, in the words of C2PA, such as ``assertion.dataHash.mismatch``.
    """

    signer: str | None = None
    valid: bool | None = None
    trusted: bool = False
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMetadata:
    """What made a file, as far as it is known.

    Parameters
    ----------
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
    signature: Signature | None = None
