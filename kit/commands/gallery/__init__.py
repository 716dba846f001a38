"""The gallery: examples of every model, made through the product itself, on one page.

It works on an embedded service with a data folder that is thrown away, so that it spends nobody's
credits and every example is rendered anew.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import kit
from kit import local, wire
from kit.client import downloads
from kit.commands.gallery.page import Card, Medium, page
from kit.commands.gallery.plan import Example, plan
from kit.engines import samples
from kit.errors import ConfigError, GenerationFailedError, KitError
from kit.studio.generation import Generation
from kit.widgets import media as pictures

__all__ = ["make"]

#: Bytes of a picture inside the page, and pixels across.
_LIMIT, _ACROSS = 60_000, 480
Say = Callable[[str], None]


def make(
    target: Path,
    only: Sequence[str] = (),
    *,
    say: Say = lambda _: None,
    planned: Callable[[Iterable[wire.Model]], Sequence[Example]] = plan,
) -> int:
    """Write the page and return how many examples failed.

    Parameters
    ----------
    target : Path
        The HTML file; videos and sounds go into a folder beside it, ``NAME_files``.
    only : sequence of str
        Ids of the models to show; all of them when empty.
    say : callable
        Told in a line what was made.
    planned : callable
        Chooses the examples of some models, model by model.

    Raises
    ------
    ConfigError
        There is no such model, or the page cannot be written there.
    """
    if not target.absolute().parent.is_dir():
        raise ConfigError(f"the folder {target.absolute().parent} does not exist")
    with tempfile.TemporaryDirectory(prefix="kit-gallery-") as scratch:
        folder = Path(scratch)
        try:
            with kit.connect(*local.embedded(folder / "data"), data=folder / "data") as studio:
                chosen = {name: studio.models[name] for name in only or studio.models}
                models = [model for model in studio.models.values() if model.id in chosen]
                return _make(studio, planned(models), target, folder, say)
        finally:
            local.stop()


def _make(
    studio: kit.Studio, examples: Sequence[Example], target: Path, folder: Path, say: Say
) -> int:
    names = sorted({name for e in examples for files in e.media.values() for name in files})
    say(f"{len(examples)} examples; drawing {len(names)} inputs")
    inputs = {name: samples.written(name, folder) for name in names}
    files = target.with_name(f"{target.stem}_files")
    started = [_started(studio, example, inputs) for example in examples]
    cards = []
    for number, (example, begun) in enumerate(zip(examples, started, strict=True), start=1):
        cards.append(_card(example, begun, files, number))
        say(f"[{number}/{len(examples)}] {_line(cards[-1])}")
    shown = {name: _input(path, files) for name, path in inputs.items()}
    sections = [
        (model, tuple(group))
        for model, group in groupby(cards, key=lambda card: card.example.model)
    ]
    target.write_text(page(sections, shown), encoding="utf-8")
    return sum(card.error is not None for card in cards)


def _started(
    studio: kit.Studio, example: Example, inputs: Mapping[str, Path]
) -> Generation | KitError:
    media = {name: [inputs[file] for file in files] for name, files in example.media.items()}
    try:
        return studio.start(
            example.model.id, example.prompt, media=media or None, **example.settings
        )
    except KitError as error:
        return error


def _card(example: Example, begun: Generation | KitError, files: Path, number: int) -> Card:
    if isinstance(begun, KitError):
        return Card(example=example, error=str(begun))
    try:
        done = begun.wait()
        medium = _output(done, files, f"{example.model.id}-{number}")
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
    return Card(example=example, medium=medium, credits=done.credits, seconds=seconds)


def _output(done: Generation, files: Path, name: str) -> Medium:
    facts, path = done.output.facts, done.output.path()
    medium = Medium(
        kind=(facts.content_type or "").partition("/")[0],
        width=facts.width or 0,
        height=facts.height or 0,
        length=facts.duration_seconds,
    )
    if medium.kind != "video":
        return medium.shown_as(_picture(path.read_bytes()))
    poster = done.client.run(downloads.poster(done.desk.cache, done.facts))
    return medium.shown_as(_poster(poster, path), file=_beside(path, files, name))


def _input(path: Path, files: Path) -> Medium:
    kind = {".mp4": "video", ".wav": "audio"}.get(path.suffix, "image")
    if kind == "image":
        return Medium(kind=kind).shown_as(_picture(path.read_bytes()))
    still = _poster(None, path) if kind == "video" else ""
    return Medium(kind=kind).shown_as(still, file=_beside(path, files, path.stem))


def _picture(content: bytes) -> str:
    return pictures.picture(content, limit=_LIMIT, width=_ACROSS)


def _poster(poster: bytes | None, path: Path) -> str:
    still = poster or pictures.first_frame(path)
    return _picture(still) if still else ""


def _beside(path: Path, files: Path, name: str) -> str:
    """Copy a file beside the page and return its address from there."""
    files.mkdir(exist_ok=True)
    copy = files / f"{name}{path.suffix}"
    shutil.copyfile(path, copy)
    return f"{files.name}/{copy.name}"


def _line(card: Card) -> str:
    name = f"{card.example.model.id} {card.example.caption}".strip()
    return f"{name}: {card.error}" if card.error is not None else f"{name}: {card.told()}"
