"""The gallery: one page of examples of all models, made with the kit's own client and service.

It runs an embedded service with a temporary data folder, so that no account is charged and all
examples are rendered again.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from PIL import Image

import kit
from kit import local, wire
from kit.commands.database import isolate_services
from kit.commands.gallery.page import Card, CardMedium, page
from kit.commands.gallery.plan import Example, plan
from kit.commands.options import check_folder
from kit.endings import guess_type
from kit.engines import samples
from kit.engines.configured.place import ModelSource
from kit.engines.media import stills
from kit.engines.media.footage import Footage
from kit.engines.registry import read_listing
from kit.errors import GenerationFailedError, KitError
from kit.service import settings as service_settings
from kit.service.settings import ServiceSettings
from kit.widgets import media as pictures

#: Maximum of bytes of a picture in the page, and its maximum width in pixels.
_MAX_BYTES, _MAX_WIDTH = 60_000, 480
#: The balloon in the samples, as fractions of the picture; size of each half and gap in pixels.
_PART, _HALF, _GAP = (0.32, 0.24, 0.51, 0.62), (316, 428), 8
#: Examples that are requested concurrently: more than are rendered.
_MAX_REQUESTS = 8
Say = Callable[[str], None]


def make(
    target: Path,
    only: Sequence[str] = (),
    *,
    say: Say = lambda _: None,
    plan_examples: Callable[[Iterable[wire.Model]], Sequence[Example]] = plan,
    data: Path | None = None,
) -> int:
    """Write the page and return how many examples failed.

    Videos and sounds are written to a folder beside it, ``NAME_files``. Without ids, all models are
    shown, also those that are configured for the folder `data`, except those that another service
    renders, which would charge credits.

    Raises `ConfigError` if there is no such model, or the page cannot be written.
    """
    check_folder(target)
    with isolate_services(), tempfile.TemporaryDirectory(prefix="kit-gallery-") as scratch:
        folder = Path(scratch)
        remote = copy_configured(service_settings.load(data=data), folder / "data", say)
        service = local.start_embedded(folder / "data")
        try:
            with kit.connect(*service, data=folder / "data") as studio:
                if remote and not only:
                    names = ", ".join(sorted(remote))
                    say(f"not shown, they cost credits elsewhere: {names}; --model ID shows one")
                chosen = {studio.models[name].id for name in only or {*studio.models} - remote}
                models = [model for model in studio.models.values() if model.id in chosen]
                failed = _make(studio, plan_examples(models), target, folder, say)
            if failed:  # errors name the log, which is deleted with the folder
                say((folder / "data" / "service.log").read_text("utf-8", "replace"))
            return failed
        finally:
            local.stop()


def _make(
    studio: kit.Studio, examples: Sequence[Example], target: Path, folder: Path, say: Say
) -> int:
    names = sorted({name for example in examples for name in example.sources})
    say(f"{len(examples)} examples; drawing {len(names)} inputs")
    inputs = {name: samples.write_sample(name, folder) for name in names}
    files = target.with_name(f"{target.stem}_files")
    cards = []
    with ThreadPoolExecutor(_MAX_REQUESTS) as pool:
        made = pool.map(partial(_make_card, studio, inputs, files), examples, count(1))
        try:
            for number, card in enumerate(made, start=1):
                cards.append(card)
                name = f"{card.example.model.id} {card.example.title}".strip()
                text = card.error or " · ".join(card.facts)
                say(f"[{number}/{len(examples)}] {name}: {text}")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for one in studio.history.pending():
                one.cancel()
            raise
    shown = {name: _show(path, files / path.stem) for name, path in inputs.items()}
    target.write_text(page(cards, shown), encoding="utf-8")
    return sum(card.error is not None for card in cards)


def _make_card(
    studio: kit.Studio, inputs: Mapping[str, Path], files: Path, example: Example, number: int
) -> Card:
    model, prompt = example.model.id, example.prompt
    media = {name: [inputs[file] for file in chosen] for name, chosen in example.media.items()}
    try:
        done = studio.start(model, prompt, media=media or None, **example.settings).wait()
        path = done.output.path()
        medium = _show(path, files / f"{model}-{number}")
        if example.close:
            part = _encode(close_up(inputs[example.sources[0]], path))
            medium = replace(medium, picture=part, close=True)
    except (KitError, OSError) as error:
        # Without the id in the message, which belongs to the temporary service.
        last = error.generation if isinstance(error, GenerationFailedError) else None
        return Card(example=example, error=getattr(last, "error", None) or str(error))
    facts, seconds = done.facts, None
    if facts.started_at and facts.completed_at:
        seconds = (facts.completed_at - facts.started_at).total_seconds()
    return Card(example=example, medium=medium, credits=facts.credits_charged, seconds=seconds)


def _show(path: Path, target: Path) -> CardMedium:
    """Return a file for the page; if it is not a picture, it is copied beside the page."""
    kind = guess_type(path.name).partition("/")[0]
    if kind == "image":
        height, width = stills.open_still(path).pixels.shape[:2]
        picture = _encode(path.read_bytes())
        return CardMedium(kind=kind, width=width, height=height, picture=picture)
    target.parent.mkdir(exist_ok=True)
    copy = shutil.copyfile(path, target.with_name(f"{target.name}{path.suffix}"))
    medium = CardMedium(kind=kind, file=f"{copy.parent.name}/{copy.name}")
    if kind == "audio":
        return medium
    with Footage(path) as film:
        size = replace(medium, width=film.width, height=film.height, seconds=film.seconds)
        return replace(size, picture=_encode(pictures.first_frame(path)), sound=film.has_sound)


def _encode(content: bytes | None) -> str:
    return pictures.picture(content, limit=_MAX_BYTES, width=_MAX_WIDTH) if content else ""


def close_up(before: Path, after: Path) -> bytes:
    """Return a part of the input, enlarged, and beside it that of the result, as PNG."""
    sheet = Image.new("RGB", (2 * _HALF[0] + _GAP, _HALF[1]), "white")
    for index, path in enumerate((before, after)):
        picture = Image.fromarray(stills.open_still(path).pixels)
        x, y = picture.size
        box = (_PART[0] * x, _PART[1] * y, _PART[2] * x, _PART[3] * y)
        part = picture.resize(_HALF, Image.Resampling.BICUBIC, box)
        sheet.paste(part, (index * (_HALF[0] + _GAP), 0))
    out = io.BytesIO()
    sheet.save(out, "PNG")
    return out.getvalue()


def copy_configured(settings: ServiceSettings, data: Path, say: Say) -> frozenset[str]:
    """Copy the configuration of models to a service in another data folder.

    Returns the ids of the models that other services render, which cost credits there.
    """
    file = settings.engines_file
    if file.is_file() and not settings.engines:  # a file of KIT_ENGINES works with any folder
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(file, data / file.name)
    listing = read_listing(ModelSource(file, settings.engine_copies), refresh=False)
    for broken in listing.left_out:
        say(str(broken))
    return frozenset(
        name
        for name, engine in listing.engines.items()
        if type(engine).__module__.startswith("kit.engines.remote.")
    )
