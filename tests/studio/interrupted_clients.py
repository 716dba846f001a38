"""Clients interrupted before the answer to a start, and a service with a truthful list."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from kit import wire
from kit.client.aio import AsyncClient
from kit.client.calls import GENERATIONS, Outcome, SendRequest, Step
from kit.client.sync import Client
from tests.client.third_party import Answer, Request, ThirdParty


def is_start(step: Step) -> bool:
    return isinstance(step, SendRequest) and (step.call.method, step.call.path) == (
        "POST",
        GENERATIONS,
    )


class InterruptedClient(Client):
    """Interrupted once, after a start has been executed and before its answer is read."""

    stops = 1

    def perform(self, step: Step) -> Outcome:
        outcome = super().perform(step)
        if is_start(step) and self.stops:
            self.stops -= 1
            raise KeyboardInterrupt
        return outcome


class CanceledClient(AsyncClient):
    """The async client, canceled at the same point."""

    stops = 1

    async def perform(self, step: Step) -> Outcome:
        outcome = await super().perform(step)
        if is_start(step) and self.stops:
            self.stops -= 1
            raise asyncio.CancelledError
        return outcome


@dataclass
class DatedApp(ThirdParty):
    """A third-party service whose list has the true times of creation."""

    made: dict[str, str] = field(default_factory=dict)
    listing: bool = True
    lost: int = 0

    def start(self, request: Request) -> Answer:
        if self.lost:
            self.lost -= 1
            return Answer(drop=True)
        answer = super().start(request)
        self.made[answer.body["id"]] = wire.timestamp(datetime.now(UTC))
        return answer

    def list_all(self, request: Request) -> Answer:
        return super().list_all(request) if self.listing else Answer(200, [])

    def to_json(self, number: str, order: dict[str, Any]) -> dict[str, Any]:
        return {**super().to_json(number, order), "createdAt": self.made.get(number)}
