"""Generations for notebook users, and the session that creates them."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from weakref import WeakValueDictionary

from kit import wire
from kit.client import downloads, uploads
from kit.client.addresses import absolute_url
from kit.client.calls import Flow
from kit.client.settings import hash_text
from kit.endings import guess_type
from kit.errors import ConfigError, KitError, NoAnswerError
from kit.pictures import open_picture
from kit.private import names_folder, user_path
from kit.studio.operations import Operations
from kit.widgets import preview
from kit.widgets.gallery import Fetched, draw_media
from kit.widgets.media import Fit, first_frame

if TYPE_CHECKING:
    from kit.client.aio import AsyncClient
    from kit.client.settings import Settings
    from kit.client.sync import Client
    from kit.file_metadata import FileMetadata

#: Formats to which pictures can be converted when saved.
_CONVERTIBLE_TYPES = ("image/png", "image/jpeg", "image/webp")


def render_media(generation: BaseGeneration, fit: Fit | None = None) -> tuple[str, str]:
    """Return the media of a generation as HTML, and a sentence that says why if there are none."""
    if generation.status != "completed":
        return "", ""
    return draw_media(generation.facts, partial(fetch_files, generation), fit or Fit(), whole=True)


def fetch_files(generation: BaseGeneration, whole: bool) -> Fetched:
    """Return file and thumbnail; for a picture only the thumbnail unless `whole`."""
    block, cache, facts = generation.client.block, generation.operations.cache, generation.facts
    video = facts.asset_type == "video"
    thumbnail = block(downloads.poster(cache, facts)) if video or not whole else None
    if thumbnail and not video:
        return None, thumbnail
    return block(downloads.output(cache, facts)), thumbnail


def fetch_thumbnail(generation: BaseGeneration) -> bytes | None:
    """Return the thumbnail of a generation.

    Without one, it is the picture itself, or the first frame of a video that is on this computer.
    """
    if generation.status != "completed":
        return None
    cache, facts = generation.operations.cache, generation.facts
    thumbnail = generation.client.block(downloads.poster(cache, facts))
    deleted = bool(facts.deletion) and not cache.path(facts).exists()
    kind = facts.asset_type
    if thumbnail is None and kind is None:  # not reported: taken from the model
        model = generation.client.block(generation.operations.models()).get(facts.model_id or "")
        kind = model.asset_type if model else None
    if thumbnail is None and kind == "image" and not deleted:
        return generation.client.block(downloads.output(cache, facts)).read_bytes()
    if thumbnail is None and kind == "video" and cache.path(facts).exists():
        return first_frame(cache.path(facts))
    return thumbnail


def find_thumbnail(generation: BaseGeneration) -> bytes | None:
    """Return the thumbnail, or None if it cannot be fetched."""
    try:
        return fetch_thumbnail(generation)
    except (KitError, OSError):
        return None


def cached_thumbnail(cache: downloads.Cache, generation_id: str) -> bytes | None:
    """Return a cached thumbnail without a request to the service."""
    path = cache.path(wire.Generation(id=generation_id), poster=True)
    return path.read_bytes() if path.exists() else None


@contextmanager
def note_interrupt(
    client: Client | AsyncClient,
    note: Callable[[str], str] = "what was started continues: {}".format,
) -> Iterator[None]:
    """Add a note to an interrupt or a cancellation; it may contain what finds the start."""
    try:
        yield
    except Exception:
        raise
    except BaseException as stop:  # an interrupt or a cancellation
        finds = f"{'await ' if client.awaited else ''}studio.history.pending() finds it"
        stop.add_note(note(finds))
        raise


T = TypeVar("T")
#: The remark beside a reused result.
MADE_BEFORE = "made before; again=True, or --again in %%generate, for a new one"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BaseGeneration:
    """The common base of blocking and async generations: the state as last reported.

    `made_before` is whether it is the reused result of an earlier request, at no cost.
    """

    facts: wire.Generation
    operations: Operations
    client: Client | AsyncClient
    made_before: bool = False

    def __eq__(self, other: object) -> bool:
        """Whether it is the same generation of the same service, in whatever state."""
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
        """Its identifier at the service."""
        return self.facts.id

    @property
    def status(self) -> str:
        """``processing``, ``completed``, ``failed`` or ``canceled``."""
        return self.facts.state

    @property
    def model_id(self) -> str | None:
        """Id of the model."""
        return self.facts.model_id

    @property
    def asset_type(self) -> str | None:
        """``image`` or ``video``."""
        return self.facts.asset_type

    @property
    def prompt(self) -> str | None:
        """The prompt."""
        return self.facts.prompt

    @property
    def parameters(self) -> dict[str, Any]:
        """A copy of the parameters used."""
        return dict(self.facts.parameters or {})

    @property
    def metadata(self) -> dict[str, Any]:
        """Metadata from the service, such as the ``words`` of the prompt it used and ignored."""
        return dict(self.facts.metadata or {})

    @property
    def credits(self) -> float | None:
        """The credits charged; None if neither the service nor a receipt reports them.

        A float, as in dataframes. Accounts, quotes and budgets use the exact `kit.wire.Amount`,
        which can be combined with floats.
        """
        return None if self._charged is None else float(self._charged)

    @property
    def _charged(self) -> Decimal | None:
        return self.operations.find_charge(self.facts)

    @property
    def tags(self) -> dict[str, str]:
        """Its tags."""
        return self.operations.journal.find_tags(self.facts)

    @property
    def error(self) -> str | None:
        """The error message if it failed."""
        return self.facts.error

    @property
    def created_at(self) -> datetime | None:
        """When it was started."""
        return self.facts.created_at

    @property
    def url(self) -> str | None:
        """The signed address of its file at the service, valid for a limited time."""
        url, settings = self.facts.output_url, self.client.settings
        return settings.current_url(absolute_url(settings.base_url, url)) if url else None

    def __copy__(self) -> Self:
        return self  # immutable

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        facts = self.facts  # without the signed addresses, which need no key
        output = facts.output and facts.output.model_copy(update={"thumbnail_url": None})
        changes = {"output_url": None, "media_urls": None, "output": output}
        unsigned = facts.model_copy(update=changes)
        return restore_generation, (self._service, unsigned, self.made_before)

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return self._service, self.id, self.status

    def _kit_file(self) -> Flow[Path]:
        """Return its file, to be used as input of another request."""
        return fetch_output(self)

    def show(self) -> None:
        """Display it in the notebook."""
        from IPython.display import display

        display(self)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        text = preview.generation_text(self.facts, self._charged)
        return f"{text[:-1]}, made before>" if self.made_before else text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        media, note = render_media(self)
        html = preview.generation(self.facts, self._charged, media=media, note=note)
        html += preview.remark(MADE_BEFORE) if self.made_before else ""
        return {"text/plain": repr(self), "text/html": html}


def fetch_output(generation: BaseGeneration) -> Flow[Path]:
    """Return the path of a completed generation's file, downloading it if necessary."""
    if generation.status != "completed":
        error = NoAnswerError(
            f"the generation {generation.id} has no output: its status is {generation.status}"
            + ("" if generation.facts.finished else "; wait() returns it when it is done")
        )
        error.generation_id = generation.id
        raise error
    return (yield from downloads.output(generation.operations.cache, generation.facts))


def save_file(generation: BaseGeneration, file: Path | str, metadata: bool) -> Flow[Path]:
    """Save an output under a name, or into a folder under the generation's id; return the path.

    A picture is converted if the file name has another format. `metadata` is whether the copy
    contains the request that made it.
    """
    from kit import file_metadata

    path = yield from fetch_output(generation)
    target = user_path(file)
    if names_folder(file):
        is_plain = re.fullmatch(r"[\w-][\w.-]{0,99}", generation.id)  # else it may lead elsewhere
        name = generation.id if is_plain else hash_text(generation.id, 32)
        target /= f"{name}{path.suffix}"
    elif not target.suffix and not target.is_char_device():
        target = target.with_name(f"{target.name}{path.suffix}")
    content_type = guess_type(target.name)
    is_same_type = content_type in ("", guess_type(path.name))
    if not is_same_type and content_type not in _CONVERTIBLE_TYPES:
        raise ConfigError(
            f"the file is {path.suffix}, which is not converted to {target.suffix}: save it as "
            f"{target.with_suffix(path.suffix).name}"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    if is_same_type:
        shutil.copyfile(path, target)
    else:
        picture = read_picture(path, f"it cannot be saved as {target.suffix}")
        picture = picture.convert("RGB") if content_type == "image/jpeg" else picture
        picture.save(target, quality=95)
    if not metadata:
        file_metadata.remove(target)
    elif request := describe_request(generation, path):
        file_metadata.embed(target, request)
    return target


def describe_request(generation: BaseGeneration, path: Path) -> FileMetadata | None:
    """Return the metadata for a copy of an output: those in the file, or what is known here.

    If a service of this kind wrote none, they were turned off.
    """
    from kit import file_metadata

    found = file_metadata.read(path)
    if found is not None or generation.facts.inputs is not None:
        return found
    return request_of(generation.facts, generation.operations)


def request_of(facts: wire.Generation, operations: Operations) -> FileMetadata:
    """Return what is known of a request; inputs are the service's, else those of the journal."""
    from kit.file_metadata import FileMetadata

    reported = [each.generation_id for each in facts.inputs or () if each.generation_id]
    return FileMetadata(
        model=facts.model_id,
        prompt=facts.prompt,
        parameters=facts.parameters or {},
        generation_id=facts.id,
        inputs=reported or operations.journal.start(facts.id).inputs,
    )


def read_picture(path: Path, otherwise: str) -> Any:
    """Read a file as a Pillow image; `otherwise` ends the error message if it is none."""
    if not guess_type(path.name).startswith("image/"):
        raise ConfigError(f"the output is {path.suffix}, not a picture: {otherwise}")
    with open_picture(path) as picture:
        picture.load()
        return picture


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class BaseOutput:
    """The common base of blocking and async outputs."""

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
        """Return the path of the cached file, so that ``open`` and other libraries accept it."""
        return str(self.generation.client.block(fetch_output(self.generation)))

    @property
    def url(self) -> str | None:
        """The signed address of the file at the service, valid for a limited time."""
        return self.generation.url

    @property
    def facts(self) -> wire.Output:
        """Content type, size, duration and hash, as reported by the service or by its file here."""
        path = self.generation.operations.cache.path(self.generation.facts)
        reported = self.generation.facts.output
        return reported or (measure_file(path) if path.exists() else wire.Output())


@lru_cache(256)
def measure_file(path: Path) -> wire.Output:
    """Return what can be read from the file of an output, which never changes."""
    kind = guess_type(path.name)
    content = first_frame(path) if kind.startswith("video/") else path.read_bytes()
    seconds = None if kind.startswith("image/") else uploads.source(path, ours=False).seconds()
    size = (None, None)
    with suppress(OSError), open_picture(io.BytesIO(content or b"")) as image:
        size = image.size
    return wire.Output(
        content_type=kind or None,
        width=size[0],
        height=size[1],
        duration_seconds=None if seconds is None else float(seconds),
        size_bytes=path.stat().st_size,
    )


def service_key(settings: Settings) -> tuple[str, str]:
    """Return a key for a service and its data folder that does not depend on its port."""
    return settings.label, str(settings.data)


def restore_generation(
    service: tuple[str, str], facts: wire.Generation, made_before: bool
) -> BaseGeneration:
    """Restore a pickled generation with a studio that is connected in this process."""
    newest_first = (held() for held in reversed(_SESSIONS.valuerefs()))
    found = (one for one in newest_first if one and service_key(one.operations.settings) == service)
    if (session := next(found, None)) is None:
        raise ConfigError(
            f"the generation {facts.id} is one of the service {service[0]}: kit.connect() to it, "
            "with the same data folder, before it is loaded, or pass the studio before it"
        )
    held: BaseGeneration = session.wrap(facts, made_before=made_before)
    return held


#: The sessions of this process, oldest first.
_SESSIONS: WeakValueDictionary[int, Session[Any]] = WeakValueDictionary()

G = TypeVar("G", bound=BaseGeneration)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Session(Generic[G]):
    """The shared state of a studio's forms, panels, sweeps and tables."""

    operations: Operations
    client: Client | AsyncClient
    generation: type[G]

    def subscribe(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call a method after each change; return a function that checks for external changes."""
        client, operations = self.client, self.operations
        operations.billing.changes.subscribe(call)
        return lambda: operations.watch.check(lambda: client.block(operations.newest()))

    def remember(self) -> Self:
        """Register the session for unpickled generations of its service, and return it."""
        _SESSIONS[id(self)] = self
        return self

    def resumable(self, flow: Flow[T]) -> Flow[T]:
        """Run a flow; errors after a start have ``resume`` to continue waiting."""
        try:
            return (yield from flow)
        except KitError as error:
            if error.generation_id:
                generation: Any = self.wrap(wire.Generation(id=error.generation_id))
                error.resume = generation.wait
            raise

    def wrap(self, facts: wire.Generation, *, made_before: bool = False) -> G:
        """Return a generation object of the studio's kind, blocking or async."""
        kind: Any = self.generation
        generation: G = kind(facts, self.operations, self.client, made_before=made_before)
        return generation
