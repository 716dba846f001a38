"""The store: named statements, one SQL file per noun, and the databases that run them.

Both databases have the same methods. `shared` is what several services share, None if there is only
one service; `damage` describes errors found in the stored data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kit.service.store.statements import Statements

if TYPE_CHECKING:  # the driver of PostgreSQL is an extra
    from kit.service.store.postgresql import PostgreSQL
    from kit.service.store.sqlite import SQLite

Database: TypeAlias = "SQLite | PostgreSQL"

accounts = Statements("accounts")
audit = Statements("audit")
checks = Statements("checks")
generations = Statements("generations")
idempotency = Statements("idempotency")
keys = Statements("keys")
ledger = Statements("ledger")
removals = Statements("removals")
tags = Statements("tags")
uploads = Statements("uploads")
webhooks = Statements("webhooks")
writing = Statements("writing")
