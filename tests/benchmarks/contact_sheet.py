"""Contact sheets of what the models paint, to be looked at side by side with those of other code.

Run it: ``python tests/benchmarks/contact_sheet.py FOLDER [WORD ...]``; words choose the sheets
whose names hold one of them. Prompts and seeds are fixed. The folder holds the sheets, each picture
by itself, and ``times.json`` with seconds of CPU by model and prompt, which mean something as
ratios of runs that took turns on one machine. A refused prompt is a gray cell with the sentence.

Sheets of editors need photographs: those that come with scikit-image, scikit-learn and matplotlib,
or of the same names in the folder of ``--photographs``, or below it. A sheet leaves out what it
does not find.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import av
from PIL import Image, ImageDraw, ImageFont, ImageOps

from kit.engines.base import Asset, Job, Order, Progress
from kit.engines.registry import installed
from kit.engines.samples import write_sample
from kit.errors import EngineError

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
#: Where photographs are in packages that have some.
PHOTOGRAPHS = {
    "skimage": ("astronaut.png camera.png chelsea.png coffee.png motorcycle_left.png rocket.jpg"),
    "sklearn": "china.jpg flower.jpg",
    "matplotlib": "grace_hopper.jpg",
}
FILES = {Path(name).stem: name for names in PHOTOGRAPHS.values() for name in names.split()}


@dataclass(frozen=True)
class Case:
    """An order: of an editor, with the photograph that it edits.

    `mask` is an ellipse in shares of the photograph, middle and size; `more` names further
    photographs of which clips are made to be joined.
    """

    prompt: str = ""
    photograph: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    mask: tuple[float, float, float, float] | None = None
    more: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = " ".join(f"{name}={value}" for name, value in self.values.items())
        mask = f"mask={self.mask}" if self.mask else ""
        return " · ".join(part for part in (self.prompt, self.photograph, told, mask) if part)


def boxed(x: float, y: float, width: float, height: float) -> dict[str, float]:
    """Return the settings of a box around a subject."""
    names = ("subject_x", "subject_y", "subject_width", "subject_height")
    return dict(zip(names, (x, y, width, height), strict=True))


#: Photograph -> middle and size of the box around its subject, in shares.
BOXES = {
    "astronaut": (0.42, 0.5, 0.8, 1.0),
    "camera": (0.4, 0.55, 0.66, 0.9),
    "chelsea": (0.5, 0.5, 0.97, 0.99),
    "coffee": (0.48, 0.5, 0.68, 0.98),
    "motorcycle_left": (0.51, 0.55, 0.83, 0.73),
    "rocket": (0.505, 0.64, 0.09, 0.69),
    "china": (0.4, 0.43, 0.45, 0.7),
    "flower": (0.48, 0.52, 0.46, 0.66),
    "grace_hopper": (0.51, 0.5, 0.98, 0.98),
}
WHERE = {
    "flower": (0.48, 0.52, 0.46, 0.68),
    "rocket": (0.505, 0.62, 0.09, 0.76),
    "china": (0.63, 0.83, 0.06, 0.1),
    "coffee": (0.595, 0.7, 0.17, 0.25),
    "chelsea": (0.55, 0.76, 0.16, 0.2),
    "camera": (0.72, 0.24, 0.08, 0.2),
}
EDITS = {
    "background": (
        *(Case(photograph=name) for name in FILES),
        *(Case(photograph=name, values=boxed(*box)) for name, box in BOXES.items()),
        Case("teal to black", "astronaut", {"operation": "replace"}),
        Case("mountains at sunset", "flower", {"operation": "replace"}),
        Case("", "grace_hopper", {"operation": "blur", "blur_strength": 0.6}),
        Case("", "coffee", {"operation": "blur", **boxed(*BOXES["coffee"])}),
    ),
    "retouch": (
        *(Case("", name, {"operation": "erase"}, mask) for name, mask in WHERE.items()),
        Case("", "china", {"operation": "denoise"}),
        Case("", "rocket", {"operation": "denoise", "strength": 1}),
        Case("", "chelsea", {"scale": 2}),
        Case("", "coffee", {"scale": 4}),
        Case("", "camera", {"operation": "sharpen"}),
        Case("", "china", {"operation": "sharpen", "strength": 1}),
    ),
    "restyle": (
        *(
            Case("", name, {"look": look, "stylize": "none"})
            for look, name in {
                "cinematic": "astronaut",
                "warm": "china",
                "cold": "coffee",
                "vintage": "motorcycle_left",
                "noir": "grace_hopper",
                "neon": "rocket",
                "sepia": "china",
                "matte": "flower",
                "vivid": "chelsea",
                "pastel": "flower",
                "golden": "china",
                "dreamy": "astronaut",
            }.items()
        ),
        *(
            Case(prompt, name)
            for prompt in ("like a Van Gogh painting", "as a pencil sketch", "a flat poster")
            for name in ("astronaut", "china", "chelsea", "motorcycle_left")
        ),
        Case("moody teal, a bit darker", "coffee", {"text": "Slow mornings"}),
        Case("black and white photo", "camera", {"text": "Field notes", "position": "top"}),
    ),
    "reframe": tuple(
        Case("", name, {"aspect_ratio": shape, "mode": mode})
        for mode, shape in (
            ("smart_crop", "9:16"),
            ("smart_crop", "21:9"),
            ("blurred_fill", "16:9"),
            ("stretch_edges", "16:9"),
        )
        for name in ("astronaut", "china", "flower", "grace_hopper")
    ),
    "title-card": (
        *(
            Case("Saturn is losing its rings", name, {"style": style, "subtitle": "A short story"})
            for style, name in {
                "bold": "rocket",
                "elegant": "flower",
                "clean": "china",
                "neon": "motorcycle_left",
                "editorial": "coffee",
            }.items()
        ),
        Case("Confidence", "astronaut"),
        Case("Confidence", "grace_hopper", {"aspect_ratio": "9:16", "style": "elegant"}),
        Case("How a bridge is built in ten years", "china", {"aspect_ratio": "4:5"}),
        Case("Curiosity", "chelsea", {"style": "clean"}),
        *(
            Case("Mountains at dusk", "", {"style": style, "subtitle": "Ten walks"})
            for style in ("bold", "elegant", "clean", "neon", "editorial")
        ),
        Case("The quiet lake at sunrise", "", {"aspect_ratio": "9:16"}),
        Case("Stars over the desert", "", {"aspect_ratio": "1:1", "style": "editorial"}),
        Case("Seven facts about honey", "", {"background": "gold to brown"}),
        Case("A short history of ink", "", {"background": "white", "style": "elegant"}),
        Case("Tides", "", {"background": "foggy sea", "style": "clean"}),
        Case("Snow", "", {"style": "bold", "background": "snowy forest in the morning"}),
    ),
    "animate": tuple(Case("", name) for name in ("astronaut", "flower", "china", "chelsea")),
    "ken-burns": tuple(
        Case("", name, {"aspect_ratio": "9:16"}) for name in ("astronaut", "china", "rocket")
    ),
    "lip-sync": tuple(Case("", name) for name in ("grace_hopper", "astronaut")),
    "video-edit": (
        Case("", "china", {"aspect_ratio": "9:16", "look": "golden"}),
        Case("", "astronaut", {"aspect_ratio": "1:1", "captions": "Off to the stars, at last"}),
    ),
    "video-join": (
        Case("", "flower", {"transition": "crossfade"}, more=("coffee",)),
        Case("", "china", {"transition": "slide"}, more=("rocket", "chelsea")),
    ),
}
CELL, GAP, LABEL, COLUMNS = (480, 320), 8, 36, 4
_FONT = ImageFont.load_default(15)


def main() -> None:
    """Render the sheets."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("words", nargs="*")
    options.add_argument("--photographs", type=Path)
    asked = options.parse_args()
    photographs = found(asked.photographs)
    times: dict[str, dict[str, float]] = {}
    for name, model, cases in sheets():
        if not asked.words or any(word in name for word in asked.words):
            there = [c for c in cases if {c.photograph, *c.more} <= {"", *photographs}]
            made = [*rendered(asked.folder / name, model, there, photographs, times)]
            asked.folder.mkdir(parents=True, exist_ok=True)
            if made:
                mounted(made).save(asked.folder / f"{name}.jpg", quality=90)
            print(name, len(cases) - len(there) or "", flush=True)
    (asked.folder / "times.json").write_text(json.dumps(times, indent=1))
    for model, part in times.items():
        print(f"{model:<14}{sum(part.values()) / len(part):.2f} s of CPU a picture or film")


def found(folder: Path | None) -> dict[str, Path]:
    """Return the photographs that there are, by name."""
    places = [find_spec(package) for package in PHOTOGRAPHS]
    roots = [Path(place.origin).parent for place in places if place and place.origin]
    every = {file.name: file for root in [*roots, folder] if root for file in root.rglob("*.[jp]*")}
    return {name: every[file] for name, file in FILES.items() if file in every}


def sheets() -> Iterator[tuple[str, str, tuple[Case, ...]]]:
    """Yield the name, the model and the orders of each sheet."""
    for name, prompts in SCENES.items():
        yield f"scene_{name}", "scene", tuple(map(Case, prompts))
    yield "poster", "poster", tuple(map(Case, POSTERS))
    for model, prompts in FILMS.items():
        yield model.replace("-", "_"), model, tuple(map(Case, prompts))
    for model, cases in EDITS.items():
        yield f"edit_{model.replace('-', '_')}", model, cases


def rendered(
    folder: Path,
    model: str,
    cases: list[Case],
    photographs: Mapping[str, Path],
    times: dict[str, dict[str, float]],
) -> Iterator[tuple[str, Image.Image]]:
    """Yield label and picture of each order; of a film its first, middle and last frame."""
    engine = installed()[model]
    folder.mkdir(parents=True, exist_ok=True)
    settings = {s.name: s.default for s in engine.definition.settings if s.default is not None}
    shape = {"aspect_ratio": "3:2", "size": 960, "duration": 3}
    parts = ("", " (middle)", " (end)")[: 3 if engine.definition.asset_type == "video" else 1]
    for number, case in enumerate(cases):
        file = folder / f"{number:02}.png"
        drawn = {} if case.photograph else shape
        values = settings | {n: v for n, v in drawn.items() if n in settings} | dict(case.values)
        before = cpu_seconds()
        with tempfile.TemporaryDirectory() as place:
            media = inputs(case, model, photographs, Path(place))
            order = Order(
                prompt=case.prompt, parameters=values, media={n: len(f) for n, f in media.items()}
            )
            refusal = "; ".join(f"{name} {sentence}" for name, sentence in engine.check(order))
            out = Path(place) / "out"
            out.mkdir()
            job = Job(
                prompt=case.prompt, parameters=values, folder=out, seed=number + 1, media=media
            )
            try:
                asset = None if refusal else engine.render(job, Progress())
            except EngineError as error:
                asset, refusal = None, str(error)
            if asset is None:
                yield from ((f"refused: {case}{part}", refused(refusal)) for part in parts)
                continue
            times.setdefault(model, {})[str(case)] = cpu_seconds() - before
            stills = [*stills_of(asset)]
        for still, part in zip(stills, parts, strict=True):
            still.save(file.with_stem(file.stem + part.strip(" ()")))
            yield f"{case}{part}{facts(asset)}", still


def facts(asset: Asset) -> str:
    """Return what an asset says of itself that is to be looked at beside it."""
    unused = asset.metadata.get("words", {}).get("unused", ())
    told = {name: asset.metadata[name] for name in ("certainty", "note") if name in asset.metadata}
    return (f" · not painted: {', '.join(unused)}" if unused else "") + (
        f" · {' '.join(map(str, told.values()))}" if told else ""
    )


def inputs(
    case: Case, model: str, photographs: Mapping[str, Path], folder: Path
) -> dict[str, list[Path]]:
    """Return the files of an order, made of its photographs."""
    if not case.photograph:
        return {}
    files = [photographs[name] for name in (case.photograph, *case.more)]
    if model in ("video-edit", "video-join"):
        clips = [panned(file, folder / f"{number}.mp4") for number, file in enumerate(files)]
        return {"video" if model == "video-edit" else "clips": clips}
    if model == "lip-sync":
        return {"portrait": files, "audio": [write_sample("voice", folder)]}
    media = {"image": files}
    if case.mask:
        with Image.open(files[0]) as picture:
            mask = Image.new("L", picture.size)
        x, y, width, height = (
            share * side for share, side in zip(case.mask, mask.size * 2, strict=True)
        )
        box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        ImageDraw.Draw(mask).ellipse(box, fill=255)
        mask.save(folder / "mask.png")
        media["mask"] = [folder / "mask.png"]
    return media


def panned(file: Path, path: Path) -> Path:
    """Write a clip of two seconds that moves over a photograph and return where."""
    with Image.open(file) as opened:
        picture = opened.convert("RGB").resize((720, 480))
    with av.open(str(path), "w") as film:
        stream = film.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        for number in range(50):
            left, top = round(1.6 * number), 60 + round(0.8 * number)
            frame = av.VideoFrame.from_image(picture.crop((left, top, left + 640, top + 360)))
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    return path


def stills_of(asset: Asset) -> Iterator[Image.Image]:
    """Yield the picture of an asset, or three frames of its film."""
    if asset.content_type.startswith("image/"):
        with Image.open(asset.path) as picture:
            clear = picture.convert("RGBA")
            ground = Image.new("RGBA", clear.size, (214, 40, 180, 255))
            yield Image.alpha_composite(ground, clear).convert("RGB")
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
        fitting = ImageOps.pad(picture, CELL, Image.Resampling.LANCZOS, color=(24, 24, 24))
        sheet.paste(fitting, (x, y))
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
