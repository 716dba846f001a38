"""What can be said of how a file came to be, and the packet of XMP that other programs read."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: How a file came to be, in the words of IPTC: painted by rule, edited by rule, made by a model
#: that was trained, edited by one.
ALGORITHMIC, ENHANCED = "algorithmicMedia", "algorithmicallyEnhanced"
TRAINED, COMPOSITE = "trainedAlgorithmicMedia", "compositeWithTrainedAlgorithmicMedia"
_IPTC = "http://cv.iptc.org/newscodes/digitalsourcetype/"
_PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/"
 xmlns:stRef="http://ns.adobe.com/xap/1.0/sType/ResourceRef#"
 xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
 xmlns:kit="urn:creative-studio-kit:1#"{attributes}>{elements}
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>"""
#: What XML cannot hold.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SOURCE = re.compile(r"digitalsourcetype/(\w{1,64})")


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


def write(metadata: FileMetadata) -> bytes:
    """Return the packet."""
    # Imported here: most processes only read.
    from xml.sax.saxutils import escape, quoteattr

    source = metadata.source_type
    attributes = {
        "xmp:CreatorTool": metadata.software,
        "xmpMM:DocumentID": metadata.generation_id,
        "Iptc4xmpExt:DigitalSourceType": source and _IPTC + source,
        "Iptc4xmpExt:AISystemUsed": metadata.model,
        "kit:request": json.dumps(_request(metadata), ensure_ascii=False, separators=(",", ":")),
    }
    elements = ""
    if metadata.prompt:
        text = escape(_FORBIDDEN.sub("", metadata.prompt))
        item = f'<rdf:Alt><rdf:li xml:lang="x-default">{text}</rdf:li></rdf:Alt>'
        elements += f"\n<dc:description>{item}</dc:description>"
    references = [f"<stRef:documentID>{escape(one)}</stRef:documentID>" for one in metadata.inputs]
    if references:
        items = "".join(f'<rdf:li rdf:parseType="Resource">{one}</rdf:li>' for one in references)
        elements += f"\n<xmpMM:Ingredients><rdf:Bag>{items}</rdf:Bag></xmpMM:Ingredients>"
    if len(references) == 1:
        item = f'<xmpMM:DerivedFrom rdf:parseType="Resource">{references[0]}</xmpMM:DerivedFrom>'
        elements += f"\n{item}"
    shown = "".join(f"\n {name}={quoteattr(value)}" for name, value in attributes.items() if value)
    return _PACKET.format(attributes=shown, elements=elements).encode()


def _request(metadata: FileMetadata) -> dict[str, Any]:
    known = {
        "model": metadata.model,
        "prompt": metadata.prompt,
        "parameters": dict(metadata.parameters),
        "generationId": metadata.generation_id,
        "service": metadata.service,
        "inputs": list(metadata.inputs),
    }
    return {name: value for name, value in known.items() if value}


def is_own(packet: str) -> bool:
    """Whether a packet was written here."""
    return "kit:request=" in packet


def read(packet: str) -> FileMetadata | None:
    """Return what a packet says, or None; it is not parsed as XML, which could be made to hurt."""
    found = re.search(r'\bkit:request=(["\'])(.*?)\1', packet, re.DOTALL)
    try:
        request: Any = json.loads(html.unescape(found.group(2))) if found else {}
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, Mapping):
        return None
    # Nothing is looked for from many places: a packet of beginnings would take minutes.
    tool = re.search(r'\bxmp:CreatorTool(?:="|>)([^"<]*)', packet)
    source = find_source_type(packet)
    item = packet.partition("<dc:description>")[2].partition("<rdf:li")[2]
    described = re.match(r"[^>]*>([^<]*)<", item)
    if not (request or source):
        return None
    parameters, inputs = request.get("parameters"), request.get("inputs")
    return FileMetadata(
        model=_text(request.get("model")),
        prompt=_text(request.get("prompt")) or (html.unescape(described[1]) if described else None),
        parameters=parameters if isinstance(parameters, Mapping) else {},
        generation_id=_text(request.get("generationId")),
        service=_text(request.get("service")),
        software=html.unescape(tool[1]) or None if tool else None,
        source_type=source,
        inputs=[str(one) for one in inputs] if isinstance(inputs, list) else (),
    )


def find_source_type(text: str) -> str | None:
    """Return the first term of IPTC for how something came to be that a text names."""
    found = _SOURCE.search(text)
    return found[1] if found else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def summarize(metadata: FileMetadata) -> str:
    """Return the text ``parameters`` that other programs of the field show.

    Examples
    --------
    >>> print(summarize(FileMetadata(model="poster", prompt="a lake", parameters={"seed": 7})))
    a lake
    Seed: 7, Model: poster
    """
    named = {("Seed" if name == "seed" else name): v for name, v in metadata.parameters.items()}
    known = {**named, "Model": metadata.model, "Version": metadata.software}
    line = ", ".join(f"{name}: {value}" for name, value in known.items() if value is not None)
    return "\n".join(filter(None, [metadata.prompt, line]))
