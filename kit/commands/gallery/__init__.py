"""The gallery: examples of every model, made through the product itself, on one page.

It works on an embedded service with a data folder that is thrown away, so that it spends nobody's
credits and every example is rendered anew.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import kit
from kit import local, wire
from kit.client import downloads
from kit.commands.gallery.closeup import closeup
from kit.commands.gallery.page import Card, CardMedium, page
from kit.commands.gallery.plan import Example, plan
from kit.engines import samples
from kit.engines.configured.place import ModelSource
from kit.engines.media import stills
from kit.engines.media.footage import Footage
from kit.engines.registry import look
from kit.errors import ConfigError, GenerationFailedError, KitError
from kit.service import settings as service_settings
from kit.service.settings import ServiceSettings
from kit.studio import Generation
from kit.widgets import media as pictures

__all__ = ["copy_configured", "make"]

#: Bytes of a picture inside the page, and pixels across.
_LIMIT, _ACROSS = 60_000, 480
Say = Callable[[str], None]


def make(
    target: Path,
    only: Sequence[str] = (),
    *,
    say: Say = lambda _: None,
    planned: Callable[[Iterable[wire.Model]], Sequence[Example]] = plan,
    data: Path | None = None,
) -> int:
    """Write the page and return how many examples failed.

    Parameters
    ----------
    target : Path
        The HTML file; videos and sounds go into a folder beside it, ``NAME_files``.
    only : sequence of str
        Ids of the models to show; when empty all of them, but for those that another service
        renders: it would be paid for.
    say : callable
        Called with a line for each example.
    planned : callable
        Chooses the examples of some models, model by model.
    data : Path, optional
        The data folder whose configured models are shown, too.

    Raises
    ------
    ConfigError
        There is no such model, or the page cannot be written there.
    """
    if not target.absolute().parent.is_dir():
        raise ConfigError(f"the folder {target.absolute().parent} does not exist")
    with tempfile.TemporaryDirectory(prefix="kit-gallery-") as scratch:
        folder = Path(scratch)
        distant = copy_configured(service_settings.load(data=data), folder / "data", say)
        try:
            with kit.connect(
                *local.start_embedded(folder / "data"), data=folder / "data"
            ) as studio:
                if distant and not only:
                    names = ", ".join(sorted(distant))
                    say(f"not shown, they cost credits elsewhere: {names}; --model ID shows one")
                every = [name for name in studio.models if name not in distant]
                chosen = {name: studio.models[name] for name in only or every}
                models = [model for model in studio.models.values() if model.id in chosen]
                return _make(studio, planned(models), target, folder, say)
        finally:
            local.stop()


def _make(
    studio: kit.Studio, examples: Sequence[Example], target: Path, folder: Path, say: Say
) -> int:
    names = sorted({name for e in examples for files in e.media.values() for name in files})
    say(f"{len(examples)} examples; drawing {len(names)} inputs")
    inputs = {name: samples.write_sample(name, folder) for name in names}
    files = target.with_name(f"{target.stem}_files")
    started = [_start(studio, example, inputs) for example in examples]
    cards = []
    for number, (example, begun) in enumerate(zip(examples, started, strict=True), start=1):
        cards.append(_finish(example, begun, inputs, files, number))
        card = cards[-1]
        line = " · ".join(card.facts) if card.error is None else card.error
        name = f"{example.model.id} {example.title}".strip()
        say(f"[{number}/{len(examples)}] {name}: {line}")
    shown = {name: _show_input(path, files) for name, path in inputs.items()}
    sections = [
        (model, tuple(group))
        for model, group in groupby(cards, key=lambda card: card.example.model)
    ]
    target.write_text(page(sections, shown), encoding="utf-8")
    return sum(card.error is not None for card in cards)


def _start(
    studio: kit.Studio, example: Example, inputs: Mapping[str, Path]
) -> Generation | KitError:
    media = {name: [inputs[file] for file in files] for name, files in example.media.items()}
    try:
        return studio.start(
            example.model.id, example.prompt, media=media or None, **example.settings
        )
    except KitError as error:
        return error


def _finish(
    example: Example,
    begun: Generation | KitError,
    inputs: Mapping[str, Path],
    files: Path,
    number: int,
) -> Card:
    if isinstance(begun, KitError):
        return Card(example=example, error=str(begun))
    try:
        done = begun.wait()
        medium = _show_output(example, done, inputs, files / f"{example.model.id}-{number}")
    except GenerationFailedError as error:
        # The sentence alone: the id in the message is of a service that is thrown away.
        said = getattr(error.generation, "error", None)
        return Card(example=example, error=said or str(error))
    except (KitError, OSError) as error:
        return Card(example=example, error=str(error))
    facts = done.facts
    seconds = None
    if facts.started_at and facts.completed_at:
        seconds = (facts.completed_at - facts.started_at).total_seconds()
    return Card(example=example, medium=medium, credits=facts.credits_charged, seconds=seconds)


def _show_output(
    example: Example, done: Generation, inputs: Mapping[str, Path], target: Path
) -> CardMedium:
    facts, path = done.output.facts, done.output.path()
    medium = CardMedium(
        kind=(facts.content_type or "").partition("/")[0],
        width=facts.width or 0,
        height=facts.height or 0,
        length=facts.duration_seconds,
    )
    if medium.kind != "video":
        source = next((name for names in example.media.values() for name in names), None)
        if example.close and source:
            return medium.shown_as(_encode(closeup(inputs[source], path)), close=True)
        return medium.shown_as(_encode(path.read_bytes()))
    poster = done.client.run(downloads.poster(done.operations.cache, done.facts))
    shown = medium.shown_as(
        _encode(poster or pictures.first_frame(path)), file=_copy_beside(path, target)
    )
    return replace(shown, sound=_has_sound(path))


def _show_input(path: Path, files: Path) -> CardMedium:
    kind = {".mp4": "video", ".m4a": "audio"}.get(path.suffix, "image")
    if kind == "audio":
        return CardMedium(kind=kind, file=_copy_beside(path, files / path.stem))
    if kind == "image":
        height, width = stills.open_still(path).pixels.shape[:2]
        return CardMedium(kind=kind, width=width, height=height).shown_as(
            _encode(path.read_bytes())
        )
    with Footage(path) as footage:
        found = CardMedium(
            kind=kind, width=footage.width, height=footage.height, sound=footage.has_sound
        )
    return found.shown_as(
        _encode(pictures.first_frame(path)), file=_copy_beside(path, files / path.stem)
    )


def _has_sound(path: Path) -> bool:
    with Footage(path) as footage:
        return footage.has_sound


def _encode(content: bytes | None) -> str:
    return pictures.picture(content, limit=_LIMIT, width=_ACROSS) if content else ""


def _copy_beside(path: Path, target: Path) -> str:
    """Copy a file beside the page, without an extension in `target`; return its address there."""
    target.parent.mkdir(exist_ok=True)
    copy = target.with_name(f"{target.name}{path.suffix}")
    shutil.copyfile(path, copy)
    return f"{copy.parent.name}/{copy.name}"


def copy_configured(settings: ServiceSettings, data: Path, say: Say) -> frozenset[str]:
    """Have a service on another data folder offer what is configured, too.

    Parameters
    ----------
    settings : ServiceSettings
        Of the service that the file belongs to.
    data : Path
        The other folder.
    say : callable
        Called with a line for each model that is left out.

    Returns
    -------
    frozenset of str
        Ids of the models that other services render, which cost credits there.
    """
    file = settings.engines_file
    if file.is_file() and not settings.engines:  # a file that is named serves any folder
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(file, data / file.name)
    listing = look(ModelSource(file, settings.engine_copies), refresh=False)
    for broken in listing.left_out:
        say(str(broken))
    return frozenset(
        name
        for name, engine in listing.engines.items()
        if type(engine).__module__.startswith("kit.engines.remote.")
    )
