import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.editing.picture.grading import graded
from kit.engines.editing.picture.looks import LOOKS, WORDS, Look, look_of
from kit.engines.models.restyle import Restyle
from kit.errors import EngineError
from tests.engines.image.editing.pictures import ball, pixels_of, render, saved


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return saved(ball(160, 120), tmp_path / "in" / "ball.png")


@pytest.mark.parametrize("name", LOOKS)
def test_every_look_changes_the_picture_and_keeps_its_drawing(name: str) -> None:
    ramp = np.linspace(20, 235, 200)[None, :, None] + np.array([20, 0, -20])
    old = np.repeat(ramp, 120, axis=0)
    new = graded(old.astype(np.uint8), LOOKS[name]).astype(float)

    assert np.abs(new - old).mean() > 2
    assert np.corrcoef(new.mean(axis=2).ravel(), old.mean(axis=2).ravel())[0, 1] > 0.9


def test_a_look_takes_the_memory_of_few_pictures() -> None:
    pixels = np.zeros((1200, 1200, 3), np.uint8)
    graded(pixels, LOOKS["neon"])  # what is made once

    tracemalloc.start()
    try:
        graded(pixels, LOOKS["neon"])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < 3 * pixels.nbytes


def test_no_look_changes_nothing() -> None:
    assert np.abs(graded(ball(), Look()).astype(int) - ball()).max() <= 1


def test_warm_and_cold_pull_apart_and_noir_has_no_color() -> None:
    warm, cold, noir = (graded(ball(), LOOKS[n]).astype(int) for n in ("warm", "cold", "noir"))

    assert (warm[..., 0] - warm[..., 2]).mean() > (cold[..., 0] - cold[..., 2]).mean() + 20
    assert np.ptp(noir, axis=2).max() <= 2


@pytest.mark.parametrize(("word", "look"), [("movie", "cinematic"), ("retro", "vintage")])
def test_words_of_the_prompt_choose_the_look_and_a_setting_overrules_them(
    word: str, look: str
) -> None:
    assert look_of("auto", f"make it {word} please")[0] == look
    assert look_of("cold", f"make it {word} please")[0] == "cold"
    assert look_of("auto", "make it nice") == ("none", Look())


@pytest.mark.parametrize(
    ("prompt", "look"),
    [
        ("high contrast black and white", "noir"),
        ("Black  &  White, please", "noir"),
        ("teal and orange", "cinematic"),
        ("low contrast", "matte"),
    ],
)
def test_looks_of_several_words_are_read(prompt: str, look: str) -> None:
    assert look_of("auto", prompt)[0] == look


def test_darker_brighter_and_contrast_do_what_they_say_to_any_look() -> None:
    ramp = np.repeat(np.linspace(30, 225, 60).astype(np.uint8)[:, None, None], 3, axis=2)

    def said(prompt: str) -> tuple[float, float]:
        new = graded(ramp, look_of("auto", prompt)[1]).astype(float)
        return new.mean(), new.std()

    for look in ("", "cold", "vintage"):
        light, spread = said(look)
        assert said(f"{look}, a bit darker")[0] < light - 5
        assert said(f"{look}, brighter")[0] > light + 5
        assert said(f"{look}, more contrast")[1] > spread * 1.05
    assert said("dark dark dark") == said("dark")


def test_a_title_is_whole_where_the_picture_is_see_through(tmp_path: Path) -> None:
    hole = np.dstack([ball(320, 240), np.zeros((240, 320), np.uint8)])
    hole[60:180, 110:210, 3] = 255
    media = {"image": saved(hole, tmp_path / "in" / "hole.png")}

    titled = pixels_of(
        render(Restyle(), tmp_path / "out", media=media, text="Every letter shows", look="none")
    )

    assert titled.shape == (240, 320, 3)
    outside = np.delete(titled, np.s_[100:220], axis=1)
    assert outside.min() < 90, "letters stand where nothing was"
    assert (outside > 250).mean() > 0.2, "and white is where nothing is"


def test_every_word_names_a_look_that_there_is() -> None:
    assert set(WORDS.values()) == set(LOOKS)


def test_a_color_word_tints() -> None:
    gray = np.full((20, 20, 3), 90, np.uint8)

    teal = graded(gray, look_of("auto", "teal")[1]).astype(int).mean(axis=(0, 1))
    red = graded(gray, look_of("auto", "crimson")[1]).astype(int).mean(axis=(0, 1))

    assert teal[0] < teal[1]
    assert red[0] > red[1]


@pytest.mark.parametrize("manner", ["painting", "sketch", "poster"])
@pytest.mark.parametrize("size", [(160, 120), (9, 70)])
def test_every_manner_redraws_pictures_of_any_shape(
    tmp_path: Path, manner: str, size: tuple[int, int]
) -> None:
    image = saved(ball(*size), tmp_path / "in.png")

    one, again = (
        render(Restyle(), tmp_path / name, media={"image": image}, stylize=manner, strength=1)
        for name in "ab"
    )

    assert pixels_of(one).shape == (size[1], size[0], 3)
    assert one.path.read_bytes() == again.path.read_bytes()
    assert np.abs(pixels_of(one).astype(int) - ball(*size)).mean() > 1


def test_a_sketch_is_gray_on_paper_and_a_poster_has_few_colors(tmp_path: Path, image: Path) -> None:
    sketch, poster = (
        pixels_of(
            render(Restyle(), tmp_path / m, media={"image": image}, stylize=m, strength=1)
        ).astype(int)
        for m in ("sketch", "poster")
    )

    assert np.ptp(sketch, axis=2).max() < 25
    colors, counts = np.unique(poster.reshape(-1, 3), axis=0, return_counts=True)
    assert np.sort(counts)[-7:].sum() > 0.6 * poster.shape[0] * poster.shape[1]
    assert len(colors) > 2


def test_strength_mixes_the_old_picture_in(tmp_path: Path, image: Path) -> None:
    def change(strength: float) -> float:
        asset = render(
            Restyle(),
            tmp_path / str(strength),
            media={"image": image},
            look="noir",
            strength=strength,
        )
        return float(np.abs(pixels_of(asset).astype(int) - ball(160, 120)).mean())

    assert change(0) == 0
    assert change(0) < change(0.4) < change(1)


@pytest.mark.parametrize("strength", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("values", [{"look": "noir"}, {"prompt": "a black and white photo"}])
def test_black_and_white_has_no_color_at_usual_strengths(
    tmp_path: Path, image: Path, values: dict[str, str], strength: float
) -> None:
    asset = render(Restyle(), tmp_path, media={"image": image}, strength=strength, **values)  # type: ignore[arg-type]

    assert np.ptp(pixels_of(asset).astype(int), axis=2).max() <= 1


def test_a_little_black_and_white_keeps_some_color(tmp_path: Path, image: Path) -> None:
    asset = render(Restyle(), tmp_path, media={"image": image}, look="noir", strength=0.2)

    kept = np.ptp(pixels_of(asset).astype(int), axis=2).mean()
    assert 5 < kept < np.ptp(ball(160, 120).astype(int), axis=2).mean() - 5


def test_sepia_has_one_tone_for_all_colors(tmp_path: Path) -> None:
    # Red and green of one light: a toned print tells them no longer apart.
    pixels = np.zeros((40, 80, 3), np.uint8)
    pixels[:, :40], pixels[:, 40:] = (200, 20, 20), (20, 112, 20)
    image = saved(pixels, tmp_path / "in.png")

    out = pixels_of(render(Restyle(), tmp_path / "out", media={"image": image}, look="sepia"))

    assert np.abs(out[20, 20].astype(int) - out[20, 60]).max() <= 4


def test_a_title_is_set_on_the_picture(tmp_path: Path, image: Path) -> None:
    asset = render(
        Restyle(), tmp_path / "out", media={"image": image}, text="Hello", position="top"
    )

    assert asset.metadata["lines"] == ["HELLO"]
    assert asset.metadata["position"] == "top"
    assert (pixels_of(asset)[:60].min(axis=2) > 240).sum() > 100


def test_nothing_to_do_is_an_error_that_names_what_there_is(tmp_path: Path, image: Path) -> None:
    with pytest.raises(EngineError, match="choose a look") as caught:
        render(Restyle(), tmp_path / "out", media={"image": image}, prompt="make it better")

    assert caught.value.code == "nothing_to_do"


def test_transparency_is_kept(tmp_path: Path) -> None:
    pixels = np.dstack([ball(60, 40), np.full((40, 60), 255, np.uint8)])
    pixels[:20, :, 3] = 0
    image = saved(pixels, tmp_path / "in.png")

    out = pixels_of(render(Restyle(), tmp_path / "out", media={"image": image}, look="warm"))

    assert np.array_equal(out[..., 3], pixels[..., 3])


def test_progress_rises_to_1_and_a_canceled_job_stops(tmp_path: Path, image: Path) -> None:
    seen: list[float] = []
    media = {"image": image}
    render(
        Restyle(), tmp_path / "a", media=media, stylize="painting", progress=Progress(seen.append)
    )
    stopped = Progress(lambda done: stopped.cancel() if done > 0.2 else None)

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    with pytest.raises(CanceledError):
        render(Restyle(), tmp_path / "b", media=media, stylize="painting", progress=stopped)
