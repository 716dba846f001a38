"""The store: named statements, a file of SQL a noun, and the databases that run them.

Both databases have the same methods. What several services share is in `shared`, None where there
is one service; `damage` is what was found to be wrong with the stored data so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kit.service.store.statements import Statements

if TYPE_CHECKING:  # the driver of one is an extra
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
