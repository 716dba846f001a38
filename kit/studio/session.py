"""A session: one account at one service, as one face of the studio reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kit import wire
from kit.studio.generation import BaseGeneration
from kit.studio.operations import Operations

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client

G = TypeVar("G", bound=BaseGeneration)


@dataclass(frozen=True, slots=True, eq=False)
class Session(Generic[G]):
    """What forms, panels, sweeps and tables of a studio work with.

    Parameters
    ----------
    generation : type
        Of what a user holds: blocking or awaited.
    """

    operations: Operations
    client: Client | AsyncClient
    generation: type[G]

    @property
    def awaited(self) -> bool:
        """Whether its calls are awaited."""
        return self.client.awaited

    def hold(self, facts: wire.Generation, *, made_before: bool = False) -> G:
        """Return a generation as a user of this face holds it."""
        kind: Any = self.generation
        held: G = kind(facts, self.operations, self.client, made_before=made_before)
        return held
