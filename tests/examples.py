"""Make the pictures of our models that forms and the panel show anew.

    python tests/examples.py [--to FOLDER] [MODEL ...]

Each is what the gallery command would show first of a model, with the prompt that stands beside the
pictures, on an embedded service that is thrown away.
"""

import argparse
import io
import tempfile
from pathlib import Path

from PIL import Image

import kit
from kit import local
from kit.commands.gallery.plan import plan
from kit.engines import samples
from kit.studio.generation import fetch_thumbnail
from kit.widgets import examples

FOLDER = Path(examples.__file__).parent
#: Pixels of the longer side, and the quality.
SIZE, QUALITY = 384, 60


def make(studio: kit.Studio, model: kit.wire.Model, scratch: Path) -> Image.Image:
    """Return the picture of a model."""
    example = plan([model])[0]
    media = {
        name: [samples.write_sample(one, scratch) for one in chosen]
        for name, chosen in example.media.items()
    }
    prompt = examples.prompt(model) or example.prompt
    made = studio.generate(model, prompt, media=media or None, **example.settings)
    image = Image.open(io.BytesIO(fetch_thumbnail(made) or made.output.bytes())).convert("RGB")
    image.thumbnail((SIZE, SIZE))
    return image


def main() -> None:
    """Make what was asked for, or all that there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--to", type=Path, default=FOLDER, metavar="FOLDER")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        with kit.connect(*local.start_embedded(data), data=data) as studio:
            known = studio.models
            for name in asked.models or [file.stem for file in sorted(FOLDER.glob("*.webp"))]:
                target = asked.to / f"{name}.webp"
                make(studio, known[name], data).save(target, "WEBP", quality=QUALITY, method=6)
                print(f"{name}: {target.stat().st_size:,} bytes")  # noqa: T201
        local.stop()


if __name__ == "__main__":
    main()
