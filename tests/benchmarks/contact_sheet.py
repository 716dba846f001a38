"""Contact sheets of what the models paint, to be looked at side by side with those of other code.

Run it: ``python tests/benchmarks/contact_sheet.py FOLDER [WORD ...]``; words choose the sheets
whose names hold one of them. Prompts and seeds are fixed. The folder holds the sheets, each picture
by itself, and ``times.json`` with seconds of CPU by model and prompt, which mean something as
ratios of runs that took turns on one machine. A refused prompt is a gray cell with the sentence.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import av
from PIL import Image, ImageDraw, ImageFont

from kit.engines.base import Asset, Job, Order, Progress
from kit.engines.registry import installed

SCENES = {
    "lakes_and_mountains": (
        "a mountain lake at sunset",
        "alpine lake at dawn with mist, calm",
        "winter mountains in snow, overcast",
        "rolling hills of Tuscany in spring, bright",
        "a fjord under northern lights",
        "a waterfall in a green valley, summer",
        "erupting volcano at night",
        "autumn lake, golden hour, minimalist",
        "stormy mountains, dramatic clouds",
        "a red barn in a green meadow",
        "a wide lavender field at dusk",
        "starry night over a lake, milky way",
    ),
    "deserts_and_forests": (
        "sand dunes of the Sahara at noon",
        "desert at night with a crescent moon",
        "red canyon with mesas at sunset",
        "an oasis with palm trees, golden light",
        "savanna at dusk, warm",
        "mars landscape with dust",
        "pine forest at dawn with sun rays",
        "autumn birch forest, close up",
        "misty redwood forest, gloomy",
        "snowy spruce forest at night, aurora",
        "bamboo grove, soft light",
        "jungle with fireflies at dusk",
    ),
    "seas": (
        "a calm teal ocean at dusk",
        "tropical beach with palm trees",
        "a sailboat at sunset",
        "a lighthouse on a rocky coast in a storm",
        "stormy sea, dark and dramatic",
        "an island in the mist, pastel",
        "waves breaking on black sand",
        "full moon over the sea",
        "winter coast in snow",
        "archipelago from above, aerial view",
        "cliffs at sunrise with birds",
        "a harbor in the fog",
    ),
    "cities": (
        "neon city street in the rain at night",
        "cyberpunk alley, purple and teal",
        "tokyo street at dusk",
        "paris avenue in autumn, golden hour",
        "london street in fog",
        "manhattan street at noon, sunny",
        "a snowy city street at christmas",
        "downtown skyline at sunrise",
        "empty city street at dawn, calm",
        "city traffic at night, no people",
        "a street in the blue hour",
        "old town in the rain, muted colors",
    ),
    "space_and_abstract": (
        "a spiral galaxy",
        "purple nebula with stars",
        "a ringed planet with two moons",
        "a black hole with an accretion disk",
        "a comet over a blue planet",
        "earth rise over a moonscape",
        "abstract ink in water, blue and orange",
        "liquid marble with gold veins",
        "black oil and smoke swirls",
        "flowing lines, minimalist, teal",
        "topographic contour lines",
        "pastel acrylic paint swirl",
    ),
    "no_family": (
        "Times Square",
        "Santorini",
        "a coral reef",
        "a cat astronaut",
        "a bowl of ramen",
        "a portrait of an old woman",
        "a steam locomotive",
        "a chess board",
        "a dragon reading a newspaper",
        "hot air balloons",
        "a vintage typewriter, warm light",
        "Rotkäppchen im Wald",
    ),
}
POSTERS = (
    "mountains at dusk",
    "foggy pine forest",
    "desert with a low sun, bright",
    "a calm sea under the moon",
    "snowy hills, dawn",
    "red canyon, dramatic",
    "autumn lake, thirds",
    "rain over green hills",
)
FILMS = {
    "drift": (
        "misty mountains at dawn, slow pan left",
        "a sea at sunset",
        "snowy forest at night",
        "desert dunes, warm",
    ),
    "flythrough": (
        "an alpine lake at sunset",
        "green hills in spring, birds",
        "islands at noon",
        "a red canyon in the evening",
        "a snowy forest, overcast",
    ),
    "living-scene": (
        "a mountain lake at sunset, reflections",
        "neon street in the rain",
        "northern lights over a fjord",
        "a waterfall in a forest",
        "erupting volcano at night",
        "a nebula",
        "tropical beach with palm trees",
        "campfire smoke over ink",
    ),
}
CELL, GAP, LABEL, COLUMNS = (480, 320), 8, 36, 4
_FONT = ImageFont.load_default(15)


def main() -> None:
    """Render the sheets."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("words", nargs="*")
    asked = options.parse_args()
    times: dict[str, dict[str, float]] = {}
    for name, model, prompts in sheets():
        if not asked.words or any(word in name for word in asked.words):
            made = [*rendered(asked.folder / name, model, prompts, times)]
            asked.folder.mkdir(parents=True, exist_ok=True)
            mounted(made).save(asked.folder / f"{name}.jpg", quality=90)
            print(name, flush=True)
    (asked.folder / "times.json").write_text(json.dumps(times, indent=1))
    for model, part in times.items():
        print(f"{model:<14}{sum(part.values()) / len(part):.2f} s of CPU a picture or film")


def sheets() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the name, the model and the prompts of each sheet."""
    for name, prompts in SCENES.items():
        yield f"scene_{name}", "scene", prompts
    yield "poster", "poster", POSTERS
    for model, prompts in FILMS.items():
        yield model.replace("-", "_"), model, prompts


def rendered(
    folder: Path, model: str, prompts: tuple[str, ...], times: dict[str, dict[str, float]]
) -> Iterator[tuple[str, Image.Image]]:
    """Yield label and picture of each prompt; of a film its first, middle and last frame."""
    engine = installed()[model]
    folder.mkdir(parents=True, exist_ok=True)
    for number, prompt in enumerate(prompts):
        file = folder / f"{number:02}.png"
        values = {setting.name: setting.default for setting in engine.definition.settings}
        values |= {"aspect_ratio": "3:2"}
        if "size" in values:
            values["size"] = 960
        if "duration" in values:
            values["duration"] = 3
        order = Order(prompt=prompt, parameters=values)
        refusal = "; ".join(sentence for _, sentence in engine.check(order))
        if refusal:
            for part in ("", " (middle)", " (end)")[: 3 if model in FILMS else 1]:
                yield f"refused: {prompt}{part}", refused(refusal)
            continue
        before = cpu_seconds()
        with tempfile.TemporaryDirectory() as place:
            job = Job(prompt=prompt, parameters=values, folder=Path(place), seed=number + 1)
            asset = engine.render(job, Progress())
            times.setdefault(model, {})[prompt] = cpu_seconds() - before
            stills = [*stills_of(asset)]
        unused = asset.metadata.get("words", {}).get("unused", ())
        missing = f" · not painted: {', '.join(unused)}" if unused else ""
        for still, part in zip(stills, ("", " (middle)", " (end)"), strict=False):
            still.save(file.with_stem(file.stem + part.strip(" ()")))
            yield f"{prompt}{part}{missing}", still


def stills_of(asset: Asset) -> Iterator[Image.Image]:
    """Yield the picture of an asset, or three frames of its film."""
    if asset.content_type.startswith("image/"):
        with Image.open(asset.path) as picture:
            yield picture.convert("RGB")
        return
    with av.open(str(asset.path)) as film:
        frames = [frame.to_image() for frame in film.decode(video=0)]
    yield from (frames[0], frames[len(frames) // 2], frames[-1])


def refused(sentence: str) -> Image.Image:
    """Return a gray cell that says why nothing was painted."""
    cell = Image.new("RGB", CELL, (90, 90, 90))
    text = "\n".join(textwrap.wrap(sentence, 56))
    ImageDraw.Draw(cell).text((16, 16), text, "white", font=_FONT)
    return cell


def mounted(cells: list[tuple[str, Image.Image]]) -> Image.Image:
    """Return a sheet of labelled pictures; films stand in rows of three."""
    columns = 3 if any(label.split(" · ")[0].endswith("(end)") for label, _ in cells) else COLUMNS
    rows = -(-len(cells) // columns)
    width, height = CELL[0] + GAP, CELL[1] + LABEL + GAP
    sheet = Image.new("RGB", (columns * width + GAP, rows * height + GAP), (24, 24, 24))
    draw = ImageDraw.Draw(sheet)
    for number, (label, picture) in enumerate(cells):
        x, y = GAP + number % columns * width, GAP + number // columns * height
        sheet.paste(picture.resize(CELL, Image.Resampling.LANCZOS), (x, y))
        lines = textwrap.wrap(label, 68)[:2]
        draw.text((x + 2, y + CELL[1] + 1), "\n".join(lines), (230, 230, 230), font=_FONT)
    return sheet


def cpu_seconds() -> float:
    """Return the CPU time of this process, all threads."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    print(f"{time.perf_counter() - started:.0f} s")
