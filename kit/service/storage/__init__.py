"""Storage of files by key, and their signed URLs.

A key is a relative path of safe characters, e.g. ``outputs/gen_.../3f2a.png``; the file of a key
never changes. Both storages have the same methods; if one is `direct`, clients transfer files to
and from it, not through the service.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from kit.service.storage.keys import UPLOADS
from kit.service.storage.signing import Grant
from kit.wire import Ticket

if TYPE_CHECKING:
    from kit.service.storage.local import LocalStorage
    from kit.service.storage.s3 import S3Storage

Storage: TypeAlias = "LocalStorage | S3Storage"


def make_ticket(
    storage: Storage,
    base: str,
    upload_id: str,
    content_type: str,
    length: int,
    *,
    expires: int,
    sign_outs: int = 0,
) -> Ticket:
    """Return the ticket for one PUT of a file of this type and length."""
    grant = Grant("PUT", UPLOADS + upload_id, expires, content_type, length, sign_outs)
    return Ticket(
        upload_id=upload_id,
        upload_url=storage.upload_address(base, grant),
        method="PUT",
        required_headers=grant.headers,
        expires_at=datetime.fromtimestamp(expires, UTC),
    )
