"""Signatures of files: their C2PA credentials, read with the library of the C2PA project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kit.file_metadata import formats, xmp
from kit.file_metadata.xmp import FileMetadata, Signature

#: No network access: a file may name any URL.
_OFFLINE_SETTINGS = {"verify": {"remote_manifest_fetch": False, "ocsp_fetch": False}}
#: Reported by `Signature.trusted` instead.
_UNTRUSTED_CODE = "signingCredential.untrusted"


def read_signed(path: Path, anchors: Path | None = None) -> FileMetadata | None:
    """Return the signed metadata of a file and whether its signature is valid; None without one.

    It is verified if the extra ``credentials`` is installed.

    Parameters
    ----------
    anchors : Path, optional
        The certificates (PEM) of trusted authorities; by default none.
    """
    if not formats.is_signed(path):
        return None
    try:
        import c2pa
    except ImportError:
        hint = "not checked: pip install 'creative-studio-kit[credentials]'"
        return FileMetadata(signature=Signature(problems=[hint]))
    trust = {"trust": {"trust_anchors": anchors.read_text("utf-8")}} if anchors else {}
    settings = c2pa.Settings.from_dict({**_OFFLINE_SETTINGS, **trust})
    try:
        with c2pa.Context(settings) as context, c2pa.Reader(path, context=context) as reader:
            manifest: Any = reader.get_active_manifest() or {}
            state = reader.get_validation_state()
            results = (reader.get_validation_results() or {}).get("activeManifest", {})
    except c2pa.C2paError as error:
        return FileMetadata(signature=Signature(valid=False, problems=[str(error)[:200]]))
    problem_codes = [failure["code"] for failure in results.get("failure", ())]
    info = manifest.get("signature_info") or {}
    signer_names = dict.fromkeys(filter(None, [info.get("common_name"), info.get("issuer")]))
    generator = (manifest.get("claim_generator_info") or [{}])[0]
    software = f"{generator.get('name', '')} {generator.get('version', '')}".strip()
    return FileMetadata(
        software=software or manifest.get("claim_generator"),
        source_type=xmp.find_source_type(json.dumps(manifest.get("assertions"))),
        signature=Signature(
            signer=", ".join(signer_names) or None,
            valid=state in ("Valid", "Trusted"),
            trusted=state == "Trusted",
            problems=[code for code in problem_codes if code != _UNTRUSTED_CODE],
        ),
    )
