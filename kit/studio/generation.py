"""A generation as a notebook user holds it, and the session that hands it out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from weakref import WeakValueDictionary

from kit import wire
from kit.client import downloads
from kit.client.addresses import absolute_url
from kit.client.calls import Flow
from kit.client.settings import hash_text
from kit.endings import guess_type
from kit.errors import ConfigError, KitError, NoAnswerError
from kit.pictures import open_picture
from kit.studio.operations import Operations
from kit.widgets import preview
from kit.widgets.gallery import Fetched, draw_media
from kit.widgets.media import Fit

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.settings import Settings
    from kit.client.sync import Client
    from kit.file_metadata import FileMetadata

#: What a picture can be saved as, whatever the service sent.
_CONVERTED = ("image/png", "image/jpeg", "image/webp")


def render_media(generation: BaseGeneration, fit: Fit | None = None) -> tuple[str, str]:
    """Return the media of a generation as HTML, and the sentence why there are none."""
    if generation.status != "completed":
        return "", ""
    return draw_media(generation.facts, partial(fetch_files, generation), fit, whole=True)


def fetch_files(generation: BaseGeneration, whole: bool) -> Fetched:
    """Return file and thumbnail; of a picture only the thumbnail where that is enough."""
    block, cache, facts = generation.client.block, generation.operations.cache, generation.facts
    video = facts.asset_type == "video"
    small = block(downloads.poster(cache, facts)) if video or not whole else None
    if small and not video:
        return None, small
    return block(downloads.output(cache, facts)), small


def fetch_thumbnail(generation: BaseGeneration) -> bytes | None:
    """Return the picture that stands for a generation; of a picture without one, itself."""
    if generation.status != "completed":
        return None
    cache, facts = generation.operations.cache, generation.facts
    small = generation.client.block(downloads.poster(cache, facts))
    gone = bool(facts.deletion) and not cache.path(facts).exists()
    kind = facts.asset_type
    if small is None and kind is None:  # left out: what the model makes
        model = generation.client.block(generation.operations.models()).get(facts.model_id or "")
        kind = model.asset_type if model else None
    if small is None and kind == "image" and not gone:
        return generation.client.block(downloads.output(cache, facts)).read_bytes()
    return small


def find_thumbnail(generation: BaseGeneration) -> bytes | None:
    """Return the same, or None where it is lost."""
    try:
        return fetch_thumbnail(generation)
    except (KitError, OSError):
        return None


def cached_thumbnail(cache: downloads.Cache, generation_id: str) -> bytes | None:
    """Return a thumbnail that was fetched before, without asking anybody."""
    path = cache.path(wire.Generation(id=generation_id), poster=True)
    return path.read_bytes() if path.exists() else None


T = TypeVar("T")
#: What is said of a generation that was not paid for now.
MADE_BEFORE = "made before; again=True, or --again in %%generate, for a new one"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BaseGeneration:
    """What both faces of a generation share: the facts as last reported, and how they look.

    `made_before` is whether an equal request led to it earlier, so that nothing was charged now.
    """

    facts: wire.Generation
    operations: Operations
    client: Client | AsyncClient
    made_before: bool = False

    def __eq__(self, other: object) -> bool:
        """Whether it is the same generation of the same service, however far it is."""
        if not isinstance(other, BaseGeneration):
            return NotImplemented
        return (self.id, self._service) == (other.id, other._service)

    def __hash__(self) -> int:
        return hash((self.id, self._service))

    @property
    def _service(self) -> tuple[str, str]:
        return service_key(self.operations.settings)

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
        """What the service reports about it: ``words`` of the prompt that it used, and did not."""
        return dict(self.facts.metadata or {})

    @property
    def credits(self) -> float | None:
        """What it was charged; None where neither the service nor a receipt says.

        A float, as in frames, for arithmetic and JSON. Accounts, quotes and budgets are exact:
        `kit.wire.Amount`, which takes floats beside it.
        """
        return None if self._charged is None else float(self._charged)

    @property
    def _charged(self) -> Decimal | None:
        return self.operations.find_charge(self.facts)

    @property
    def tags(self) -> dict[str, str]:
        """What it is filed under."""
        return self.operations.journal.find_tags(self.facts)

    @property
    def error(self) -> str | None:
        """Why it failed."""
        return self.facts.error

    @property
    def created_at(self) -> datetime | None:
        """When it was ordered."""
        return self.facts.created_at

    @property
    def url(self) -> str | None:
        """Where the service serves its file; signed, and valid for a while only."""
        url, settings = self.facts.output_url, self.client.settings
        return settings.at(absolute_url(settings.base_url, url)) if url else None

    def __copy__(self) -> Self:
        return self  # nothing of it changes

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        facts = self.facts  # without the addresses that open files without a key
        output = facts.output and facts.output.model_copy(update={"thumbnail_url": None})
        shown = {"output_url": None, "media_urls": None, "output": output}
        plain = facts.model_copy(update=shown)
        return restore_generation, (self._service, plain, self.made_before)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return self._service, self.id, self.status

    def _kit_file(self) -> Flow[Path]:
        """Return its file, as another request's medium."""
        return fetch_output(self)

    def show(self) -> None:
        """Show it here, as a cell that ends with it does."""
        from IPython.display import display

        display(self)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        text = preview.generation_text(self.facts, self._charged)
        return f"{text[:-1]}, made before>" if self.made_before else text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shown, note = render_media(self)
        html = preview.generation(self.facts, self._charged, media=shown, note=note)
        html += preview.remark(MADE_BEFORE) if self.made_before else ""
        return {"text/plain": repr(self), "text/html": html}


def fetch_output(generation: BaseGeneration) -> Flow[Path]:
    """Return where the file of a completed generation is, fetched where it is not here yet."""
    if generation.status != "completed":
        error = NoAnswerError(
            f"the generation {generation.id} has no output: its status is {generation.status}"
            + ("" if generation.facts.finished else "; wait() returns it when it is done")
        )
        error.generation_id = generation.id
        raise error
    return (yield from downloads.output(generation.operations.cache, generation.facts))


def save_file(generation: BaseGeneration, file: Path | str, metadata: bool) -> Flow[Path]:
    """Copy an output to a file, or into a folder under the generation's id; return where it is.

    A picture is converted where the name asks for another format. `metadata` is whether the copy
    says in itself what made it.
    """
    from kit import file_metadata

    path = yield from fetch_output(generation)
    target = Path(file).expanduser()
    if target.is_dir():
        plain = re.fullmatch(r"[\w-][\w.-]{0,99}", generation.id)  # else it may lead elsewhere
        name = generation.id if plain else hash_text(generation.id, 32)
        target /= f"{name}{path.suffix}"
    elif not target.suffix and not target.is_char_device():
        target = target.with_name(f"{target.name}{path.suffix}")
    asked = guess_type(target.name)
    kept = asked in ("", guess_type(path.name))
    if not kept and asked not in _CONVERTED:
        raise ConfigError(
            f"the file is {path.suffix}, which is not converted to {target.suffix}: save it as "
            f"{target.with_suffix(path.suffix).name}"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    if kept:
        shutil.copyfile(path, target)
    else:
        picture = read_picture(path, f"it cannot be saved as {target.suffix}")
        picture = picture.convert("RGB") if asked == "image/jpeg" else picture
        picture.save(target, quality=95)
    if not metadata:
        file_metadata.remove(target)
    elif described := describe_request(generation, path):
        file_metadata.embed(target, described)
    return target


def describe_request(generation: BaseGeneration, path: Path) -> FileMetadata | None:
    """Return what a copy of an output is to say of itself: what the file says, or what is known.

    Where a service of this kind left it out, it was asked to.
    """
    from kit import file_metadata

    facts = generation.facts
    found = file_metadata.read(path)
    if found is not None or facts.inputs is not None:
        return found
    return file_metadata.FileMetadata(
        model=facts.model_id,
        prompt=facts.prompt,
        parameters=facts.parameters or {},
        generation_id=facts.id,
        inputs=generation.operations.journal.start(facts.id).inputs,
    )


def read_picture(path: Path, otherwise: str) -> Any:
    """Return a picture file as one of Pillow; `otherwise` is what follows where it is none."""
    if not guess_type(path.name).startswith("image/"):
        raise ConfigError(f"the output is no picture but {path.suffix}: {otherwise}")
    with open_picture(path) as picture:
        picture.load()
        return picture


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BaseOutput:
    """What both faces of an output share: the facts about it, and how it looks."""

    generation: BaseGeneration

    def __repr__(self) -> str:
        facts = self.facts
        size = f" {facts.width}×{facts.height}" if facts.width and facts.height else ""
        return f"<Output {facts.content_type or self.generation.asset_type or 'media'}{size}>"

    def _kit_file(self) -> Flow[Path]:
        return fetch_output(self.generation)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        html = preview.output(self.facts, media=render_media(self.generation)[0])
        return {"text/plain": repr(self), "text/html": html}

    def __fspath__(self) -> str:
        """Return the file in the cache, so that ``open`` and other libraries take it as a path."""
        return str(self.generation.client.block(fetch_output(self.generation)))

    @property
    def url(self) -> str | None:
        """Where the service serves it; signed, and valid for a while only."""
        return self.generation.url

    @property
    def facts(self) -> wire.Output:
        """Type, size, length and hash, as far as the service reports them."""
        return self.generation.facts.output or wire.Output()


def service_key(settings: Settings) -> tuple[str, str]:
    """Return what a service and the folder of its journal are known by, whatever its port is."""
    return settings.name or settings.base_url, str(settings.data)


def restore_generation(
    service: tuple[str, str], facts: wire.Generation, made_before: bool
) -> BaseGeneration:
    """Return a generation that was pickled, in the hands of a studio that is connected here."""
    newest_first = (held() for held in reversed(_SESSIONS.valuerefs()))
    here = (one for one in newest_first if one and service_key(one.operations.settings) == service)
    session = next(here, None)
    if session is None:
        raise ConfigError(
            f"the generation {facts.id} is one of the service {service[0]}: kit.connect() to it, "
            "with the same data folder, before it is loaded, or pass the studio before it"
        )
    held: BaseGeneration = session.hold(facts, made_before=made_before)
    return held


#: The sessions of this process, oldest first.
_SESSIONS: WeakValueDictionary[int, Session[Any]] = WeakValueDictionary()

G = TypeVar("G", bound=BaseGeneration)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Session(Generic[G]):
    """What forms, panels, sweeps and tables of a studio work with; it knows its face."""

    operations: Operations
    client: Client | AsyncClient
    generation: type[G]

    def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have a method called after each change at the service; return what looks for others'."""
        client, operations = self.client, self.operations
        operations.billing.changes.subscribe(call)
        return lambda: operations.watch.look(lambda: client.block(operations.newest()))

    def remember(self) -> Self:
        """Have generations of its service that are unpickled later belong to it; return it."""
        _SESSIONS[id(self)] = self
        return self

    def resumable(self, flow: Flow[T]) -> Flow[T]:
        """Run a flow; its errors after a start say how to wait on."""
        try:
            return (yield from flow)
        except KitError as error:
            if error.generation_id:
                held: Any = self.hold(wire.Generation(id=error.generation_id))
                error.resume = held.wait
            raise

    def hold(self, facts: wire.Generation, *, made_before: bool = False) -> G:
        """Return a generation as a user of this face holds it."""
        kind: Any = self.generation
        held: G = kind(facts, self.operations, self.client, made_before=made_before)
        return held
