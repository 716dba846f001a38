"""A library as source text, and tiny pipelines of the real one, each built once."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit import parameters
from kit.engines.base import Asset, Job, Progress
from kit.engines.diffusers.engine import Pipeline
from kit.engines.diffusers.library import Library
from kit.wire import Model
from tests.engines.diffusers.source import AUTO, SOURCE

SMALL = {"width": 64, "height": 64, "num_inference_steps": 2, "num_frames": 5}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """A library of a few pipelines, as source text."""
    pipelines = tmp_path / "diffusers" / "pipelines"
    (pipelines / "plain").mkdir(parents=True)
    (pipelines / "auto_pipeline.py").write_text(AUTO)
    (pipelines / "plain" / "pipeline_plain.py").write_text(SOURCE)
    return Library(tmp_path / "diffusers")


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a tiny pipeline by its short name; each is built once."""
    # Imported here: the module needs the libraries, and not every test does.
    from tests.engines.diffusers.tiny import build

    root = tmp_path_factory.mktemp("weights")

    def folder(name: str) -> Path:
        path = root / name
        if not path.exists():
            build(name, path)
        return path

    return folder


@pytest.fixture
def render(tmp_path: Path) -> Callable[..., Asset]:
    """Check a request the way the service does, and render it in its own folder."""
    count = iter(range(100))

    def render_job(
        engine: Pipeline,
        prompt: str = "a cat",
        *,
        seed: int = 5,
        media: dict[str, list[Path]] | None = None,
        progress: Progress | None = None,
        small: Mapping[str, Any] = SMALL,
        **values: Any,
    ) -> Asset:
        found = engine.definition
        model = Model(
            id=found.id,
            setting_parameters=list(found.settings),
            media_parameters=list(found.media),
            supports_prompt=found.supports_prompt,
            prompt_required=found.prompt_required,
        )
        media = media or {}
        known = {parameter.name for parameter in found.settings}
        given = {name: value for name, value in small.items() if name in known} | values
        prompt = prompt if found.supports_prompt else ""
        full = parameters.check(model, prompt=prompt, parameters=given, media=media)
        folder = tmp_path / f"job{next(count)}"
        folder.mkdir()
        job = Job(prompt=prompt, parameters=full, folder=folder, seed=seed, media=media)
        return engine.render(job, progress or Progress())

    return render_job


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture of noise, with an odd width and height."""
    pixels = np.random.default_rng(0).integers(0, 255, (91, 133, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    """A mask that is white on the left half."""
    pixels = np.zeros((91, 133), np.uint8)
    pixels[:, :66] = 255
    path = tmp_path / "mask.png"
    Image.fromarray(pixels).save(path)
    return path
