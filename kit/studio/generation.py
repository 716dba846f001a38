"""A generation as a notebook user holds it: frozen facts, a preview, and what it can do."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kit import wire
from kit.client import downloads
from kit.client.actions import Flow, map_result
from kit.client.settings import absolute_url
from kit.errors import KitError, NoAnswerError
from kit.studio import showing
from kit.studio.desk import Desk

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.sync import Client


T = TypeVar("T")
#: What is said of a generation that was not paid for now.
MADE_BEFORE = "made before; again=True, or --again in %%generate, for a new one"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Held:
    """What both faces of a generation share: the facts and how they look.

    Parameters
    ----------
    facts : wire.Generation
        As the service last reported it.
    made_before : bool
        Whether an equal request led to it earlier, so that nothing was charged now.
    """

    facts: wire.Generation
    desk: Desk
    client: Client | AsyncClient
    made_before: bool = False

    @property
    def id(self) -> str:
        """Identifier at the service."""
        return self.facts.id

    @property
    def status(self) -> str:
        """``processing``, ``completed``, ``failed`` or ``canceled``."""
        return self.facts.state

    @property
    def model_id(self) -> str | None:
        """Which model made it."""
        return self.facts.model_id

    @property
    def asset_type(self) -> str | None:
        """``image`` or ``video``."""
        return self.facts.asset_type

    @property
    def prompt(self) -> str | None:
        """What was asked for."""
        return self.facts.prompt

    @property
    def parameters(self) -> dict[str, Any]:
        """The settings used, as a copy."""
        return dict(self.facts.parameters or {})

    @property
    def metadata(self) -> dict[str, Any]:
        """What the service tells about it: ``words`` of the prompt that it used, and did not."""
        return dict(self.facts.metadata or {})

    @property
    def credits(self) -> Decimal | None:
        """What it was charged; None where neither the service nor a receipt says."""
        return self.desk.charged(self.facts)

    @property
    def error(self) -> str | None:
        """Why it failed."""
        return self.facts.error

    @property
    def created_at(self) -> datetime | None:
        """When it was ordered."""
        return self.facts.created_at

    def _kit_file(self) -> Flow[Path]:
        """Return its file, as another request's medium."""
        return _fetched(self)

    def __repr__(self) -> str:
        from kit.widgets import preview

        return preview.generation_text(self.facts, self.credits)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from kit.widgets import preview

        shown, note = showing.media(self)
        html = preview.generation(self.facts, self.credits, media=shown, note=note)
        html += preview.remark(MADE_BEFORE) if self.made_before else ""
        return {"text/plain": repr(self), "text/html": html}


class Generation(Held):
    """A generation; refreshing, waiting and canceling return a new object.

    Examples
    --------
    ``lake = studio.generate("poster", "a lake at dawn")`` and then ``lake.output.save("lake.png")``
    """

    __slots__ = ()
    client: Client

    @property
    def output(self) -> Output:
        """The media that came out; fetched when first asked for."""
        return Output(self)

    def refresh(self) -> Generation:
        """Return it as it is now."""
        return self._new(self.desk.get(self.id))

    def wait(self, timeout: float | None = None) -> Generation:
        """Return it completed; raises `GenerationFailedError` when it ends without a result."""
        return self._new(self.desk.wait(self.id, timeout=timeout))

    def cancel(self) -> Generation:
        """Ask the service to stop it and return it as it is then."""
        return self._new(self.desk.cancel(self.id))

    def delete_outputs(self) -> Generation:
        """Delete its files at the service for good and return it as it is then.

        The generation, what it cost and copies on this computer stay. Doing so again is fine; one
        that is still processing is refused.
        """
        return self._new(self.desk.delete_outputs(self.id))

    def _new(self, flow: Flow[wire.Generation]) -> Generation:
        return Generation(self._run(flow), self.desk, self.client)

    def _run(self, flow: Flow[T]) -> T:
        """Run a flow about this generation; its errors say how to wait on."""
        try:
            return self.client.run(flow)
        except KitError as error:
            error.generation_id, error.resume = self.id, self.wait
            raise


class AsyncGeneration(Held):
    """The awaited twin of `Generation`."""

    __slots__ = ()
    client: AsyncClient

    @property
    def output(self) -> AsyncOutput:
        """The media that came out; fetched when first asked for."""
        return AsyncOutput(self)

    async def refresh(self) -> AsyncGeneration:
        """Return it as it is now."""
        return await self._new(self.desk.get(self.id))

    async def wait(self, timeout: float | None = None) -> AsyncGeneration:
        """Return it completed; raises `GenerationFailedError` when it ends without a result."""
        return await self._new(self.desk.wait(self.id, timeout=timeout))

    async def cancel(self) -> AsyncGeneration:
        """Ask the service to stop it and return it as it is then."""
        return await self._new(self.desk.cancel(self.id))

    async def delete_outputs(self) -> AsyncGeneration:
        """Delete its files at the service for good and return it as it is then."""
        return await self._new(self.desk.delete_outputs(self.id))

    async def _new(self, flow: Flow[wire.Generation]) -> AsyncGeneration:
        return AsyncGeneration(await self._run(flow), self.desk, self.client)

    async def _run(self, flow: Flow[T]) -> T:
        """Run a flow about this generation; its errors say how to wait on."""
        try:
            return await self.client.run(flow)
        except KitError as error:
            error.generation_id, error.resume = self.id, self.wait
            raise


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Output:
    """The media of a completed generation: a file in the cache, fetched and verified once."""

    generation: Generation

    def __repr__(self) -> str:
        return _described(self.generation)

    def _kit_file(self) -> Flow[Path]:
        return _fetched(self.generation)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from kit.widgets import preview

        html = preview.output(self.facts, media=showing.media(self.generation)[0])
        return {"text/plain": repr(self), "text/html": html}

    @property
    def url(self) -> str | None:
        """Where the service serves it; signed, and valid for a while only."""
        return _address(self.generation)

    @property
    def facts(self) -> wire.Output:
        """Type, size, length and hash, as far as the service tells."""
        return self.generation.facts.output or wire.Output()

    def path(self) -> Path:
        """Return the file in the cache; do not change it."""
        return self.generation._run(_fetched(self.generation))

    def bytes(self) -> bytes:
        """Return the content of the file."""
        return self.path().read_bytes()

    def save(self, file: Path | str) -> Path:
        """Copy it to a file, or into a folder, and return where it is."""
        return self.generation._run(
            map_result(_fetched(self.generation), _saver(file, self.generation))
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AsyncOutput:
    """The awaited twin of `Output`."""

    generation: AsyncGeneration

    def __repr__(self) -> str:
        return _described(self.generation)

    def _kit_file(self) -> Flow[Path]:
        return _fetched(self.generation)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from kit.widgets import preview

        html = preview.output(self.facts, media=showing.media(self.generation)[0])
        return {"text/plain": repr(self), "text/html": html}

    @property
    def url(self) -> str | None:
        """Where the service serves it; signed, and valid for a while only."""
        return _address(self.generation)

    @property
    def facts(self) -> wire.Output:
        """Type, size, length and hash, as far as the service tells."""
        return self.generation.facts.output or wire.Output()

    async def path(self) -> Path:
        """Return the file in the cache; do not change it."""
        return await self.generation._run(_fetched(self.generation))

    async def bytes(self) -> bytes:
        """Return the content of the file."""
        return (await self.path()).read_bytes()

    async def save(self, file: Path | str) -> Path:
        """Copy it to a file, or into a folder, and return where it is."""
        flow = map_result(_fetched(self.generation), _saver(file, self.generation))
        return await self.generation._run(flow)


def _fetched(generation: Held) -> Flow[Path]:
    if generation.status != "completed":
        error = NoAnswerError(
            f"the generation {generation.id} has no output: its status is {generation.status}"
        )
        error.generation_id = generation.id
        raise error
    return (yield from downloads.output(generation.desk.cache, generation.facts))


def _saver(file: Path | str, generation: Held) -> Callable[[Path], Path]:
    def save(path: Path) -> Path:
        target = Path(file).expanduser()
        if target.is_dir():
            target /= f"{generation.id}{path.suffix}"
        elif not target.suffix:
            target = target.with_name(f"{target.name}{path.suffix}")
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copyfile(path, target))

    return save


def _described(generation: Held) -> str:
    facts = generation.facts.output or wire.Output()
    size = f" {facts.width}×{facts.height}" if facts.width and facts.height else ""
    return f"<Output {facts.content_type or generation.asset_type or 'media'}{size}>"


def _address(generation: Held) -> str | None:
    """Return the whole address of an output, where its service is now."""
    url, settings = generation.facts.output_url, generation.client.settings
    return settings.at(absolute_url(settings.base_url, url)) if url else None
