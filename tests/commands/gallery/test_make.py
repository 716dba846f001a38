import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image

from kit import wire
from kit.commands import models
from kit.commands.gallery import close_up, make
from kit.commands.gallery.plan import Example
from kit.engines import samples
from kit.engines.media import soundfile
from tests.commands.conftest import Kit


def test_a_gallery_page_is_generated_by_the_service(kit: Kit, tmp_path: Path) -> None:
    done = kit("models", "--gallery", "page.html", "--model", "clay")

    assert done.code == 0
    assert done.out.strip() == "page.html"
    assert "[1/1] clay: 0.2 credits" in done.err
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "data:image/" in text
    assert 'href="#input-portrait"' in text
    assert "1 models" not in text


def test_a_failed_example_is_a_card_with_the_error_message(kit: Kit, tmp_path: Path) -> None:
    def plan_examples(found: Iterable[wire.Model]) -> list[Example]:
        (flat,) = found
        deeds = [*({"does": it} for it in ("works", "fails", "raises")), {"count": 99}]
        return [Example(model=flat, prompt="a lake", settings=deed) for deed in deeds]

    target = tmp_path / "page.html"
    lines: list[str] = []

    assert make(target, ["flat"], say=lines.append, plan_examples=plan_examples) == 3
    text = target.read_text(encoding="utf-8")
    assert text.count('<figure class="failed"') == 3
    assert "the clay is too dry" in text
    assert "must be at most 10" in text
    assert any("the clay is too dry" in line for line in lines)
    assert "RuntimeError: secret path" in lines[-1]
    with pytest.raises(typer.Exit) as end:
        models.show_gallery(target, ["flat"], plan_examples=plan_examples)
    assert end.value.exit_code == 1


def test_videos_and_sounds_are_files_beside_the_page_with_a_sound_switch(
    kit: Kit, tmp_path: Path
) -> None:
    def plan_examples(found: Iterable[wire.Model]) -> list[Example]:
        (model,) = found
        small = {"duration": 1, "resolution": "360p"}
        media = {"image": ("portrait",), "soundtrack": ("voice",)}
        return [Example(model=model, settings=small, media=media)]

    target = tmp_path / "page.html"

    assert make(target, ["ken-burns"], plan_examples=plan_examples) == 0
    text = target.read_text(encoding="utf-8")
    files = {path.name for path in (tmp_path / "page_files").iterdir()}
    assert files == {"ken-burns-1.mp4", "voice.m4a"}
    assert all(f'src="page_files/{name}"' in text for name in files)
    assert 'class="frame" data-sound=""' in text
    sound = soundfile.open_sound(tmp_path / "page_files" / "voice.m4a")
    assert sound.seconds == pytest.approx(3.1, abs=0.1)
    assert np.abs(sound.samples).max() > 0.4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--gallery", "no/such/page.html"), f"{Path('no/such')} does not exist"),
        (("--gallery", "page.html", "--model", "postr"), "did you mean 'poster'?"),
        (("--model", "poster"), "--model goes with --gallery"),
    ],
)
def test_invalid_gallery_arguments_are_refused(
    kit: Kit, arguments: tuple[str, ...], sentence: str
) -> None:
    done = kit("models", *arguments)

    assert done.code in (1, 2)
    assert sentence in done.err


def test_a_close_up_shows_the_same_part_of_input_and_sharper_result(tmp_path: Path) -> None:
    before, after = (samples.write_sample(name, tmp_path) for name in ("small", "picture"))

    sheet = np.asarray(Image.open(io.BytesIO(close_up(before, after))).convert("L")).astype(int)

    middle = sheet.shape[1] // 2
    left, right = sheet[:, : middle - 4], sheet[:, middle + 4 :]
    assert left.shape == right.shape
    assert np.abs(np.diff(right)).max() > 1.2 * np.abs(np.diff(left)).max()
    assert np.corrcoef(left.ravel(), right.ravel())[0, 1] > 0.9
