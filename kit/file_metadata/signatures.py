"""Who signed a file: its C2PA credentials, as that project's own library reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kit.file_metadata import formats, xmp
from kit.file_metadata.xmp import FileMetadata, Signature

#: Nothing is fetched: what a file names could be anywhere.
_OFFLINE = {"verify": {"remote_manifest_fetch": False, "ocsp_fetch": False}}
#: Says what `Signature.trusted` says already.
_UNTRUSTED = "signingCredential.untrusted"


def read_signed(path: Path, anchors: Path | None = None) -> FileMetadata | None:
    """Return what a signature says of a file, and whether it is right; None of one without any.

    It is checked where the extra ``credentials`` is installed.

    Parameters
    ----------
    anchors : Path, optional
        The certificates (PEM) of trusted authorities; none is when left out.
    """
    if not formats.is_signed(path):
        return None
    try:
        import c2pa
    except ImportError:
        hint = "not checked: pip install 'creative-studio-kit[credentials]'"
        return FileMetadata(signature=Signature(problems=[hint]))
    trust = {"trust": {"trust_anchors": anchors.read_text("utf-8")}} if anchors else {}
    settings = c2pa.Settings.from_dict({**_OFFLINE, **trust})
    try:
        with c2pa.Context(settings) as context, c2pa.Reader(path, context=context) as reader:
            manifest: Any = reader.get_active_manifest() or {}
            state = reader.get_validation_state()
            checks = (reader.get_validation_results() or {}).get("activeManifest", {})
    except c2pa.C2paError as error:
        return FileMetadata(signature=Signature(valid=False, problems=[str(error)[:200]]))
    codes = [failure["code"] for failure in checks.get("failure", ())]
    info = manifest.get("signature_info") or {}
    names = dict.fromkeys(filter(None, [info.get("common_name"), info.get("issuer")]))
    made_with = (manifest.get("claim_generator_info") or [{}])[0]
    software = f"{made_with.get('name', '')} {made_with.get('version', '')}".strip()
    return FileMetadata(
        software=software or manifest.get("claim_generator"),
        source_type=xmp.find_source_type(json.dumps(manifest.get("assertions"))),
        signature=Signature(
            signer=", ".join(names) or None,
            valid=state in ("Valid", "Trusted"),
            trusted=state == "Trusted",
            problems=[code for code in codes if code != _UNTRUSTED],
        ),
    )
