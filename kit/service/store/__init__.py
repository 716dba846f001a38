"""The store: named statements, a file of SQL a noun, and the databases that run them."""

from __future__ import annotations

from kit.service.store.statements import Statements

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
