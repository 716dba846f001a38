from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from kit.engines.base import CanceledError, Job, Order, Progress
from kit.engines.editing.picture.painted import behind
from kit.engines.models.background import Background
from kit.errors import EngineError
from tests.engines.image.editing.pictures import BALL, ball, busy, pixels_of, render, saved


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return saved(ball(), tmp_path / "in" / "ball.png")


def near(pixel: np.ndarray, color: tuple[int, int, int], slack: int = 12) -> bool:
    return bool((np.abs(pixel[:3].astype(int) - color) <= slack).all())


@pytest.mark.parametrize("kind", ["png", "webp"])
def test_removing_leaves_the_subject_on_nothing(tmp_path: Path, image: Path, kind: str) -> None:
    asset = render(Background(), tmp_path / "out", media={"image": image}, format=kind)

    pixels = pixels_of(asset)
    assert pixels.shape == (180, 240, 4)
    assert pixels[90, 120, 3] == 255
    assert near(pixels[90, 120], BALL)
    assert pixels[5, 5, 3] == 0
    assert asset.metadata["subjectShare"] == pytest.approx(np.pi * 45**2 / (180 * 240), rel=0.06)


def test_a_jpeg_shows_white_where_the_background_was(tmp_path: Path, image: Path) -> None:
    asset = render(Background(), tmp_path / "out", media={"image": image}, format="jpeg")

    assert asset.content_type == "image/jpeg"
    assert near(pixels_of(asset)[5, 5], (255, 255, 255), 3)


@pytest.mark.parametrize(
    ("values", "corner"),
    [
        ({"color": "teal"}, (0, 128, 128)),
        ({"color": "#f80"}, (255, 136, 0)),
        ({"prompt": "white to black"}, (255, 255, 255)),
        ({"prompt": "Navy"}, (16, 29, 72)),
    ],
)
def test_replacing_puts_the_named_color_behind(
    tmp_path: Path, image: Path, values: dict[str, str], corner: tuple[int, int, int]
) -> None:
    asset = render(
        Background(), tmp_path / "out", media={"image": image}, operation="replace", **values
    )

    pixels = pixels_of(asset)
    assert near(pixels[2, 2], corner, 16)
    assert near(pixels[90, 120], BALL)


def test_a_place_in_the_prompt_is_painted_and_the_seed_varies_it(
    tmp_path: Path, image: Path
) -> None:
    one, again, other = (
        render(
            Background(),
            tmp_path / name,
            media={"image": image},
            operation="replace",
            prompt="mountains at dusk",
            seed=seed,
        ).path.read_bytes()
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )

    assert one == again
    assert one != other


def test_a_backdrop_is_white_where_it_is_see_through(tmp_path: Path, image: Path) -> None:
    hidden = np.full((50, 90, 4), (10, 200, 30, 0), np.uint8)
    media = {"image": image, "backdrop": saved(hidden, tmp_path / "in" / "hidden.png")}

    asset = render(Background(), tmp_path / "out", media=media, operation="replace")

    assert near(pixels_of(asset)[3, 3], (255, 255, 255), 2)


def test_a_backdrop_goes_before_words(tmp_path: Path, image: Path) -> None:
    green = saved(np.full((50, 90, 3), (10, 200, 30), np.uint8), tmp_path / "in" / "green.png")

    asset = render(
        Background(),
        tmp_path / "out",
        media={"image": image, "backdrop": green},
        operation="replace",
        prompt="red",
    )

    assert near(pixels_of(asset)[3, 3], (10, 200, 30), 2)


def test_blurring_softens_what_is_behind_and_not_the_subject(tmp_path: Path) -> None:
    pixels = ball()
    pixels[::6] = pixels[::6] // 2
    pixels[60:120, 90:150] = ball()[60:120, 90:150]
    image = saved(pixels, tmp_path / "in" / "stripes.png")

    asset = render(
        Background(),
        tmp_path / "out",
        media={"image": image},
        operation="blur",
        blur_strength=1,
    )

    out = pixels_of(asset)
    assert out[:40, 10, 0].astype(float).std() < 0.4 * pixels[:40, 10, 0].astype(float).std()
    assert near(out[90, 120], BALL)


def test_blurring_what_is_see_through_brings_nothing_hidden_to_light(tmp_path: Path) -> None:
    cover = np.zeros((180, 240), np.uint8)
    cover[20:160, 40:200] = 255
    image = saved(np.dstack([ball(), cover]), tmp_path / "in" / "cut.png")
    values: dict[str, Any] = {"operation": "blur", "blur_strength": 1}

    with pytest.raises(EngineError, match="no background to blur") as caught:
        render(Background(), tmp_path / "a", media={"image": image}, **values)
    box = {"subject_x": 0.5, "subject_y": 0.5, "subject_width": 0.3, "subject_height": 0.4}
    made = render(Background(), tmp_path / "b", media={"image": image}, **values, **box)

    assert caught.value.code == "no_background"
    with Image.open(made.path) as file:
        assert np.array_equal(np.asarray(file.convert("RGBA"))[..., 3], cover)


def test_round_corners_stay_see_through_when_the_background_is_blurred(tmp_path: Path) -> None:
    pixels, cover = ball(), np.full((180, 240), 255, np.uint8)
    pixels[::6] = pixels[::6] // 2
    pixels[60:120, 90:150] = ball()[60:120, 90:150]
    cover[:12, :12] = 0
    image = saved(np.dstack([pixels, cover]), tmp_path / "in" / "round.png")

    made = render(
        Background(), tmp_path / "a", media={"image": image}, operation="blur", blur_strength=1
    )

    with Image.open(made.path) as file:
        out = np.asarray(file.convert("RGBA"))
    assert np.array_equal(out[..., 3], cover)
    assert out[20:60, 10, 0].astype(float).std() < 0.4 * pixels[20:60, 10, 0].astype(float).std()


def test_feathering_softens_the_edge(tmp_path: Path, image: Path) -> None:
    hard, soft = (
        pixels_of(render(Background(), tmp_path / str(f), media={"image": image}, feather=f))
        for f in (0, 12)
    )

    def between(pixels: np.ndarray) -> int:
        return int(((pixels[..., 3] > 20) & (pixels[..., 3] < 235)).sum())

    assert between(soft) > 2 * between(hard)


def test_a_picture_that_is_cut_out_already_keeps_its_own_outline(tmp_path: Path) -> None:
    pixels = np.dstack([ball(), np.zeros((180, 240), np.uint8)])
    pixels[:, :120, 3] = 255
    image = saved(pixels, tmp_path / "in" / "half.png")

    asset = render(
        Background(), tmp_path / "out", media={"image": image}, operation="replace", color="black"
    )

    out = pixels_of(asset)
    assert (out[:, 130:] == 0).all()
    assert np.array_equal(out[:, :110], ball()[:, :110])


def two(tmp_path: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """A picture of two balls, and where each of them is."""
    pixels = np.hstack([ball(), ball()[:, :, [2, 0, 1]]])
    left = np.zeros(pixels.shape[:2], np.uint8)
    cv2.circle(left, (120, 90), 45, 255, -1)
    return saved(pixels, tmp_path / "in" / "two.png"), left, left[:, ::-1]


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_box_says_which_of_two_things_is_the_subject(tmp_path: Path, side: str) -> None:
    image, left, right = two(tmp_path)
    box = {"subject_y": 0.5, "subject_width": 0.22, "subject_height": 0.55}

    asset = render(
        Background(),
        tmp_path / "out",
        media={"image": image},
        subject_x=0.25 if side == "left" else 0.75,
        **box,
    )

    alpha = pixels_of(asset)[..., 3]
    wanted, other = (left, right) if side == "left" else (right, left)
    assert alpha[wanted > 0].mean() > 245
    assert alpha[other > 0].mean() < 5


def test_a_rough_mask_says_what_the_subject_is_and_the_edge_is_found(tmp_path: Path) -> None:
    image, left, _ = two(tmp_path)
    mask = np.zeros((90, 240, 3), np.uint8)
    mask[26:66, 38:80] = (255, 0, 0)
    media = {"image": image, "mask": saved(mask, tmp_path / "in" / "mask.png")}

    alpha = pixels_of(render(Background(), tmp_path / "out", media=media))[..., 3]

    both = ((alpha > 127) & (left > 0)).sum()
    assert both / ((alpha > 127) | (left > 0)).sum() > 0.95


@pytest.mark.parametrize(
    ("gray", "size", "code"),
    [(0, (90, 120), "mask_empty"), (255, (90, 120), "mask_full"), (0, (90, 90), "mask_shape")],
)
def test_a_mask_that_says_nothing_is_refused(
    tmp_path: Path, image: Path, gray: int, size: tuple[int, int], code: str
) -> None:
    mask = saved(np.full(size, gray, np.uint8), tmp_path / "in" / "mask.png")

    with pytest.raises(EngineError) as caught:
        render(Background(), tmp_path / "out", media={"image": image, "mask": mask})

    assert caught.value.code == code


def test_a_mask_that_is_see_through_all_over_is_told_so(tmp_path: Path, image: Path) -> None:
    mask = saved(np.full((90, 120, 4), (255, 255, 255, 0), np.uint8), tmp_path / "in" / "mask.png")

    with pytest.raises(EngineError, match="see-through counts as black"):
        render(Background(), tmp_path / "out", media={"image": image, "mask": mask})


@pytest.mark.parametrize(
    ("values", "masked", "names"),
    [
        ({}, True, set()),
        ({"subject_x": 0.5, "subject_width": 0.2}, False, {"subject_y", "subject_height"}),
        ({"subject_x": 0.5}, True, {"subject_x"}),
    ],
)
def test_half_a_box_and_two_ways_to_say_it_are_refused(
    values: dict[str, float], masked: bool, names: set[str]
) -> None:
    defaults = {p.name: p.default for p in Background.definition.settings}
    media = {"image": 1, **({"mask": 1} if masked else {})}

    found = Background().check(Order(prompt="", parameters={**defaults, **values}, media=media))

    assert {name for name, _ in found} == names


def test_a_picture_without_a_subject_says_so(tmp_path: Path) -> None:
    image = saved(np.full((60, 80, 3), 120, np.uint8), tmp_path / "in" / "plain.png")

    with pytest.raises(EngineError, match=r"no subject.*subject_x") as caught:
        render(Background(), tmp_path / "out", media={"image": image})

    assert caught.value.code == "no_subject"


@pytest.mark.parametrize("operation", ["remove", "replace", "blur"])
def test_a_subject_that_cannot_be_told_is_refused_unless_it_is_pointed_at(
    tmp_path: Path, operation: str
) -> None:
    image = saved(busy(0), tmp_path / "busy.png")
    with pytest.raises(EngineError, match=r"clearly enough.*a mask or by subject_x") as caught:
        render(Background(), tmp_path / "a", media={"image": image}, operation=operation)
    box = {"subject_x": 0.5, "subject_y": 0.53, "subject_width": 0.5, "subject_height": 0.6}
    told = render(Background(), tmp_path / "b", media={"image": image}, operation=operation, **box)

    assert caught.value.code == "unsure_subject"
    assert "certainty" not in told.metadata


def test_how_sure_a_cutout_is_stands_in_its_metadata(tmp_path: Path, image: Path) -> None:
    facts = render(Background(), tmp_path / "out", media={"image": image}).metadata

    assert facts["certainty"] > 0.9
    assert "note" not in facts


def test_a_mask_is_read_once(tmp_path: Path) -> None:
    class Counted(list[Path]):
        read = 0

        def __getitem__(self, at: Any) -> Any:
            Counted.read += 1
            return super().__getitem__(at)

    pixels = np.dstack([ball(), np.full((180, 240), 255, np.uint8)])
    pixels[:40, :, 3] = 0
    mask = np.zeros((180, 240), np.uint8)
    cv2.circle(mask, (120, 90), 40, 255, -1)
    folder = tmp_path / "out"
    folder.mkdir()
    values = {p.name: p.default for p in Background.definition.settings if p.default is not None}
    job = Job(
        prompt="",
        parameters={**values, "operation": "blur"},
        folder=folder,
        media={
            "image": [saved(pixels, tmp_path / "in.png")],
            "mask": Counted([saved(mask, tmp_path / "mask.png")]),
        },
    )

    Background().render(job, Progress())

    assert Counted.read == 1


@pytest.mark.parametrize(
    ("values", "code"),
    [({"color": "blurple"}, "unknown_color"), ({"prompt": "quite nice"}, "unknown_background")],
)
def test_words_that_mean_nothing_here_are_refused(
    tmp_path: Path, image: Path, values: dict[str, str], code: str
) -> None:
    with pytest.raises(EngineError) as caught:
        render(
            Background(), tmp_path / "out", media={"image": image}, operation="replace", **values
        )

    assert caught.value.code == code


def test_the_preview_shows_checkers_for_transparency(tmp_path: Path, image: Path) -> None:
    asset = render(Background(), tmp_path / "out", media={"image": image})

    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        corner = np.asarray(preview)[:40, :40].astype(int)
        assert preview.format == "JPEG"
    assert corner.min() > 190
    assert np.ptp(corner) > 20


def test_progress_rises_to_1_and_a_canceled_job_stops(tmp_path: Path, image: Path) -> None:
    seen: list[float] = []
    render(Background(), tmp_path / "a", media={"image": image}, progress=Progress(seen.append))
    stopped = Progress(lambda done: stopped.cancel() if done > 0.2 else None)

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    with pytest.raises(CanceledError):
        render(Background(), tmp_path / "b", media={"image": image}, progress=stopped)
    assert not list((tmp_path / "b").iterdir())


@pytest.mark.parametrize("size", [(300, 4), (5, 200), (2100, 60)])
def test_a_landscape_is_painted_in_any_shape(size: tuple[int, int]) -> None:
    pixels = behind("sea at sunset", *size, 1, Progress())

    assert pixels.shape == (size[1], size[0], 3)
