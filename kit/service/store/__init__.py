"""The store: tables, statements and the databases that run them.

A module of statements that is taken from here (`from kit.service.store import keys`) is a stand-in
that knows them as text; see `kit.service.store.prepared`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        from kit.service.store.prepared import stand_in

        found = stand_in(name)
        if found is None:  # a module without statements, which the import then looks for
            raise AttributeError(name)
        return found
