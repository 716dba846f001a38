import math

import numpy as np
import pytest

from kit.engines.editing.lipsync import placing
from kit.engines.editing.lipsync.placing import Told, place, told_of
from kit.errors import EngineError
from tests.engines.drawn import LINE, face
from tests.engines.drawn import place as spot

AT = {"x": 160.0, "y": 175.0, "size": 115.0}
SIZE = (320, 360)


def test_the_mouth_is_found_without_being_told() -> None:
    found = place(face(**AT), Told())

    mouth = found.pose.to_pixels((found.lips.x, found.lips.y))
    assert math.dist(mouth, spot(0, LINE, **AT)) < 5
    assert found.eyes is not None


def test_what_was_found_can_be_told_again() -> None:
    pixels = face(**AT)
    found = place(pixels, Told())
    facts = found.facts(SIZE)

    again = place(pixels, told_of(facts)).facts(SIZE)

    assert facts["eyes"] is True
    assert [again[name] for name in ("mouth_x", "mouth_y", "mouth_width")] == pytest.approx(
        [facts[name] for name in ("mouth_x", "mouth_y", "mouth_width")], abs=0.01
    )


def test_a_told_width_or_place_corrects_what_was_found() -> None:
    pixels = face(**AT)
    found = place(pixels, Told())

    wide = place(pixels, Told(width=0.3))
    left = place(pixels, Told(x=0.45))

    assert wide.facts(SIZE)["mouth_width"] == pytest.approx(0.3, abs=1e-3)
    assert wide.pose == found.pose
    assert left.facts(SIZE)["mouth_x"] == pytest.approx(0.45, abs=1e-3)


@pytest.mark.parametrize("side", [0, 1])
def test_the_told_mouth_chooses_among_faces(side: int) -> None:
    crowd = np.hstack([face(**AT), face(**AT)])

    found = place(crowd, Told(x=0.25 + 0.5 * side))

    assert found.pose.to_pixels((0, 0))[0] == pytest.approx(160 + 320 * side, abs=8)


def test_a_place_beside_the_mouth_says_whose_it_is_and_not_where() -> None:
    crowd = np.hstack([face(**AT), face(**AT)])

    free, chosen = place(crowd, Told(x=0.25)), place(crowd, Told(x=0.31))

    assert chosen.facts((640, 360))["mouth_x"] == pytest.approx(0.25, abs=0.01)
    assert chosen.pose == free.pose


def test_a_profile_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = face(**AT)
    monkeypatch.setattr(placing, "aside", lambda _: True)

    with pytest.raises(EngineError, match="seen from the side") as caught:
        place(pixels, Told())

    assert caught.value.code == "aside"
    assert place(pixels, Told(0.5, 0.6, 0.2)).eyes is None


def test_a_mouth_that_only_a_person_sees_is_believed() -> None:
    pixels = np.full((200, 300, 3), 200, np.uint8)
    pixels[118:122, 120:180] = 30

    found = place(pixels, Told(0.5, 0.61, 0.2))

    x, y = found.pose.to_pixels((found.lips.x, found.lips.y))
    assert (x, y) == (pytest.approx(150, abs=1), pytest.approx(120, abs=3))
    assert 2 * found.lips.half * found.pose.unit == pytest.approx(60, abs=1)
    assert found.eyes is None


@pytest.mark.parametrize("told", [Told(), Told(x=0.5, y=0.5), Told(width=0.2)])
def test_without_a_face_and_a_whole_mouth_there_is_a_clear_error(told: Told) -> None:
    with pytest.raises(EngineError, match="no face was found in the picture") as caught:
        place(np.full((200, 300, 3), 200, np.uint8), told)

    assert caught.value.code == "no_face"
    assert "mouth_x, mouth_y and mouth_width" in str(caught.value)


@pytest.mark.parametrize(
    "told",
    [Told(x=0.5, y=0.0), Told(x=0.0, y=0.5), Told(x=0.02, y=0.5), Told(y=0.01), Told(x=1, y=1)],
)
def test_a_mouth_told_beside_the_face_is_refused_in_a_sentence(told: Told) -> None:
    with pytest.raises(EngineError, match="outside the face") as caught:
        place(face(**AT), told)

    assert caught.value.code == "off_face"


@pytest.mark.parametrize(("x", "y"), [(0, 0), (1, 1), (0.5, 0), (0, 0.5)])
def test_a_whole_mouth_is_believed_even_at_the_edge_of_the_picture(x: float, y: float) -> None:
    facts = place(face(**AT), Told(x, y, 0.2)).facts(SIZE)

    assert (facts["mouth_x"], facts["mouth_y"]) == pytest.approx((x, y), abs=0.03)
    assert facts["eyes"] is False
