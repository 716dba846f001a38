"""Where files are kept by key, and the signed addresses that lead to them.

A key is a relative path of safe characters, e.g. ``outputs/gen_.../3f2a.png``; what lies under a
key never changes. Both storages have the same methods; only one that is `direct` has clients send
and read files there, and not through the service.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from kit.service.storage.local import LocalStorage
    from kit.service.storage.s3 import S3Storage

Storage: TypeAlias = "LocalStorage | S3Storage"
