from pathlib import Path

import pytest

from kit.engines.media.fonts import FACES, able, letters, path_of, with_letters
from kit.errors import EngineError


@pytest.mark.parametrize("face", FACES)
def test_every_face_has_the_letters_of_western_europe(face: str) -> None:
    assert {ord(letter) for letter in "AZaz09ÄÖÜßéñç€—’…"} <= letters(face)


@pytest.mark.parametrize("face", FACES)
def test_every_face_has_its_license_beside_it(face: str) -> None:
    family = path_of(face).stem.partition("-")[0]
    license_text = path_of(face).with_name(f"OFL-{family}.txt").read_text()

    assert "SIL OPEN FONT LICENSE Version 1.1" in license_text


def test_all_fonts_together_stay_small() -> None:
    folder = path_of("anton").parent

    assert sum(path.stat().st_size for path in Path(folder).glob("*.ttf")) < 1_600_000


@pytest.mark.parametrize(
    ("text", "face"),
    [("Hello", "anton"), ("Ωμέγα", "inter-bold"), ("Привет", "inter-bold"), ("שלום", "rubik")],
)
def test_a_face_without_the_letters_gives_way_to_one_that_has_them(text: str, face: str) -> None:
    assert with_letters(text, "anton") == face


def test_spaces_and_joiners_need_no_letters() -> None:
    assert with_letters("a\u200d b\u00a0c\n", "bebas") == "bebas"


def test_letters_that_no_face_has_are_named() -> None:
    with pytest.raises(EngineError, match="日 本") as caught:
        with_letters("日本 news", "anton")

    assert caught.value.code == "no_letters"


def test_letters_that_no_single_face_has_are_named() -> None:
    with pytest.raises(EngineError, match="together with the others: Ω") as caught:
        with_letters("שלום Ω", "anton")

    assert caught.value.code == "no_letters"
    assert able("שלום Ω", "anton") == ()
