"""Signs results (C2PA) as the last step: any later change of a file breaks its signature.

The parent of the render processes signs, so that none of these has the key.
"""

from __future__ import annotations

import hashlib
import io
import logging
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image

from kit import file_metadata
from kit.errors import ConfigError, require_extra
from kit.private import make_folder, write_private
from kit.service.settings import ServiceSettings
from kit.service.storage.keys import SUFFIXES, content_type, output_key
from kit.service.storage.output_folder import OutputFolder
from kit.version import __version__

_log = logging.getLogger("kit.worker")

_SIGNED_TYPES = ("image/png", "image/jpeg", "image/webp", "video/mp4")
_SOURCE_PREFIX = "http://cv.iptc.org/newscodes/digitalsourcetype/"
_DAYS = 3650  # validity of a self-signed certificate
#: No thumbnails of a file and its ingredients in the manifest: they would be most of its size.
_NO_THUMBNAILS = {"builder": {"thumbnail": {"enabled": False}}}
_CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\\s*", re.DOTALL)
_KEY = re.compile("-----BEGIN ([A-Z]+ )?PRIVATE KEY-----.*?PRIVATE KEY-----\\s*", re.DOTALL)


class ResultSigner:
    """Signs with the certificate and the key of the settings.

    Raises `ConfigError` if the extra ``credentials`` is missing, or the certificate cannot be used
    for signing.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        with require_extra("credentials", "KIT_SIGNING_CERT"):
            import c2pa
        self._c2pa, self._scratch = c2pa, settings.scratch
        try:
            chain, key = _read_credentials(settings)
            self._info = c2pa.C2paSignerInfo(_algorithm(key), chain.encode(), key.encode(), None)
            trial = io.BytesIO()
            Image.new("L", (1, 1)).save(trial, "PNG")
            self._write(trial, io.BytesIO(), "image/png", file_metadata.ALGORITHMIC, ())
        except (ValueError, TypeError, c2pa.C2paError) as error:
            raise ConfigError(f"KIT_SIGNING_CERT: nothing can be signed with it: {error}") from None

    def sign(
        self,
        generation_id: str,
        facts: dict[str, Any],
        outputs: OutputFolder,
        media: Iterable[Path],
    ) -> dict[str, Any]:
        """Sign a file with metadata of this generation; return its new facts, under the same key.

        Files without such metadata, or signed by others, are not changed, nor are those that cannot
        be signed, which are logged. `media` become ingredients, with their own credentials.
        """
        unsigned = outputs.path(facts["key"])
        metadata = file_metadata.read(unsigned)
        if metadata is None or metadata.generation_id != generation_id:
            return facts
        if facts["content_type"] not in _SIGNED_TYPES:
            return facts
        draft = self._scratch / f"{secrets.token_hex(8)}.signing"
        try:
            make_folder(self._scratch)
            with unsigned.open("rb") as source, draft.open("w+b") as target:
                self._write(source, target, facts["content_type"], metadata.source_type, media)
                target.seek(0)
                digest = hashlib.file_digest(target, "sha256").hexdigest()
                size = target.seek(0, 2)
            key = output_key(generation_id, digest, SUFFIXES[facts["content_type"]])
            outputs.put({key: draft})
        except (OSError, self._c2pa.C2paError) as error:
            _log.warning("%s is not signed: %s", generation_id, type(error).__name__)
            return facts
        finally:
            with suppress(OSError):
                draft.unlink()
        unsigned.unlink(missing_ok=True)
        return {**facts, "key": key, "sha256": digest, "size_bytes": size}

    def _write(
        self, source: Any, target: Any, kind: str, source_type: str | None, media: Iterable[Path]
    ) -> None:
        created = {"action": "c2pa.created", "digitalSourceType": f"{_SOURCE_PREFIX}{source_type}"}
        manifest = {
            "claim_generator_info": [{"name": "creative-studio-kit", "version": __version__}],
            "assertions": [{"label": "c2pa.actions.v2", "data": {"actions": [created]}}],
        }
        c2pa = self._c2pa
        with (
            c2pa.Context(c2pa.Settings.from_dict(_NO_THUMBNAILS)) as context,
            c2pa.Builder(manifest, context=context) as builder,
            c2pa.Signer.from_info(self._info) as signer,
        ):
            types = c2pa.Builder.get_supported_mime_types()
            for path in media:
                kind_of_input = content_type(path.name)
                if kind_of_input in types:
                    title = kind_of_input.partition("/")[0]
                    with path.open("rb") as file:
                        facts = {"title": title, "relationship": "inputTo"}
                        builder.add_ingredient(facts, kind_of_input, file)
            builder.sign(signer, kind, source, target)


def describe_signer(settings: ServiceSettings) -> str:
    """Return a sentence that says who signs results."""
    if not settings.signing_cert:
        return "results are not signed"
    from cryptography import x509

    ResultSigner(settings)
    chain, _ = _read_credentials(settings)
    name = x509.load_pem_x509_certificate(chain.encode()).subject.rfc4514_string()
    if settings.signing_cert == "self":
        return f"results are signed with a self-signed certificate, which is not trusted ({name})"
    return f"results are signed as {name}"


def _read_credentials(settings: ServiceSettings) -> tuple[str, str]:
    """Return a certificate chain and the key of its first certificate, as PEM."""
    from cryptography import x509

    if settings.signing_cert == "self":
        path = settings.data / "signing.pem"
        if not path.exists():
            write_private(path, make_certificate())
        files = [path]
    else:
        names = [settings.signing_cert, settings.signing_key]
        files = [Path(name).expanduser() for name in names if name]
    try:
        text = "\n".join(file.read_text("utf-8") for file in files)
    except (OSError, ValueError) as error:
        raise ConfigError(f"KIT_SIGNING_CERT or KIT_SIGNING_KEY: {error}") from None
    parts = _CERTIFICATE.findall(text)
    pairs = ((part, x509.load_pem_x509_certificate(part.encode())) for part in parts)
    # Without self-signed certificates: clients that trust them have them already.
    chain, key = "".join(part for part, it in pairs if it.issuer != it.subject), _KEY.search(text)
    if not chain or not key:
        raise ConfigError(
            "KIT_SIGNING_CERT must name a PEM file of certificates, the signer's first, and "
            "KIT_SIGNING_KEY one of its private key without a password"
        )
    return chain, key[0]


def _algorithm(key: str) -> str:
    """Return the C2PA name of the algorithm of a key."""
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    private_key = load_pem_private_key(key.encode(), None)
    if isinstance(private_key, ec.EllipticCurvePrivateKey):
        return {256: "es256", 384: "es384"}.get(private_key.key_size, "es512")
    return "ed25519" if isinstance(private_key, ed25519.Ed25519PrivateKey) else "ps256"


def make_certificate() -> str:
    """Return an untrusted certificate and its key, as PEM.

    C2PA rejects self-signed certificates, so a temporary authority signs it, whose key is dropped.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    authority, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    organization = x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Creative Studio (self-made)")
    issuer, subject = (
        x509.Name([organization, x509.NameAttribute(NameOID.COMMON_NAME, common)])
        for common in ("untrusted authority", "untrusted")
    )
    extensions = {
        x509.KeyUsage(True, *[False] * 8): True,
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]): False,
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()): False,
    }
    now = datetime.now(UTC)
    certificate = x509.CertificateBuilder(
        issuer,
        subject,
        key.public_key(),
        x509.random_serial_number(),
        now - timedelta(days=1),
        now + timedelta(days=_DAYS),
        [x509.Extension(one.oid, critical, one) for one, critical in extensions.items()],
    ).sign(authority, hashes.SHA256())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    return str((certificate.public_bytes(pem) + private).decode())
