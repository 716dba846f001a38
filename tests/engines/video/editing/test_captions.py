from itertools import pairwise

import numpy as np
import pytest

from kit.engines.editing.video.captions import STYLES, Captions, grouped, lettered
from kit.engines.editing.video.spoken import Word, timed
from kit.engines.media.clip import rgb_frame, rgb_of
from kit.errors import EngineError

TEXT = "Nobody told you this: the ocean is louder than you think. Is it not?"
WIDE, TALL = (320, 180), (180, 320)


def words(text: str = TEXT, seconds: float = 5.0) -> list[Word]:
    return timed(text, seconds)


def drawn(moment: float, size: tuple[int, int] = WIDE, **how: str) -> np.ndarray:
    asked = {"style": "bold", "position": "bottom", **how}
    frame = rgb_frame(np.full((size[1], size[0], 3), (60, 120, 80), np.uint8))
    Captions(words(), asked["style"], asked["position"], size).draw(frame, moment)
    return rgb_of(frame).astype(int)


def changed(picture: np.ndarray) -> np.ndarray:
    return np.abs(picture - (60, 120, 80)).max(axis=2) > 25


@pytest.mark.parametrize("style", STYLES)
def test_groups_hold_all_words_once_and_end_with_sentences(style: str) -> None:
    groups = grouped(words(), STYLES[style])
    texts = [[word.text for word in group.words] for group in groups]

    assert [text for group in texts for text in group] == TEXT.split()
    assert all(1 <= len(group) <= 4 for group in texts)
    assert [g[-1] for g in texts if g[-1][-1] in ":.?"] == ["this:", "think.", "not?"]


def test_a_phrase_is_divided_evenly() -> None:
    groups = grouped(words("the ocean is louder than you think"), STYLES["bold"])

    assert [len(group.words) for group in groups].count(1) == 0


def test_a_group_stays_until_the_next_one_begins() -> None:
    groups = grouped(words(), STYLES["bold"])

    assert all(a.end <= b.start + 1e-9 for a, b in pairwise(groups))
    assert groups[0].end == pytest.approx(groups[1].start, abs=0.01)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("size", [WIDE, TALL, (202, 250)])
def test_words_are_readable_inside_every_frame(style: str, size: tuple[int, int]) -> None:
    where = changed(drawn(0.6, size, style=style))

    rows, columns = np.flatnonzero(where.any(1)), np.flatnonzero(where.any(0))
    assert len(rows) > 0.04 * min(size)
    assert columns[0] > 2
    assert columns[-1] < size[0] - 3
    assert abs((columns[0] + columns[-1]) / 2 - size[0] / 2) < 6


def test_positions_are_where_they_say() -> None:
    middles = [
        np.flatnonzero(changed(drawn(0.6, position=p)).any(1)).mean() / WIDE[1]
        for p in ("top", "middle", "bottom")
    ]

    assert middles[0] < 0.3 < 0.45 < middles[1] < 0.55 < 0.7 < middles[2]


def test_the_spoken_word_moves_on_through_the_group() -> None:
    first = words()[0]

    def yellow(moment: float) -> float:
        picture = drawn(moment)
        at = (picture[..., 0] > 180) & (picture[..., 1] > 150) & (picture[..., 2] < 90)
        return float(np.flatnonzero(at.any(0)).mean())

    assert yellow((first.start + first.end) / 2) < yellow(first.end + 0.05) - 25


def test_a_group_pops_up_when_it_begins() -> None:
    start = grouped(words(), STYLES["bold"])[1].start

    assert changed(drawn(start + 0.001)).sum() < 0.9 * changed(drawn(start + 0.15)).sum()


def test_karaoke_keeps_what_was_said_in_color() -> None:
    group = grouped(words(), STYLES["karaoke"])[0]
    blue = [
        int(
            (
                (p := lettered(group, STYLES["karaoke"], said, WIDE).astype(int))[..., 2]
                - p[..., 0]
                > 80
            ).sum()
        )
        for said in range(len(group.words))
    ]

    assert blue == sorted(blue)
    assert blue[-1] > 2 * blue[0]


def test_nothing_is_drawn_before_the_first_word_and_after_the_last() -> None:
    late = [Word("late", 2.0, 2.5)]
    frame = rgb_frame(np.full((180, 320, 3), 90, np.uint8))
    for moment in (0.0, 1.9, 3.5):
        touched = frame.copy()
        Captions(late, "bold", "bottom", WIDE).draw(touched, moment)
        assert np.array_equal(touched, frame)


def test_only_the_region_of_the_words_changes() -> None:
    frame = rgb_frame(np.random.default_rng(1).integers(0, 255, (180, 320, 3), np.uint8))
    touched = frame.copy()
    Captions(words(), "bold", "bottom", WIDE).draw(touched, 0.6)

    assert np.array_equal(touched[:90], frame[:90])
    assert not np.array_equal(touched[90:180], frame[90:180])


def test_letters_that_no_font_has_are_told_before_the_first_frame() -> None:
    with pytest.raises(EngineError, match="no font") as told:
        Captions([Word("🦑", 0.0, 1.0)], "bold", "bottom", WIDE)
    assert told.value.code == "no_letters"


@pytest.mark.parametrize("text", ["мир и море", "Έλληνες", "Donaudampfschifffahrtsgesellschaft"])
def test_other_scripts_and_long_words_fit(text: str) -> None:
    frame = rgb_frame(np.full((180, 320, 3), 90, np.uint8))
    Captions(timed(text, 3.0), "bold", "middle", WIDE).draw(frame, 0.5)

    where = np.abs(rgb_of(frame).astype(int) - 90).max(axis=2) > 25
    assert where.any()
    assert not where[:, :3].any()
    assert not where[:, -3:].any()


def test_scripts_that_share_no_font_are_shown_one_after_the_other() -> None:
    texts = [
        [word.text for word in group.words]
        for group in grouped(words("Γειά σου שלום עולם"), STYLES["bold"])
    ]

    assert texts == [["Γειά", "σου"], ["שלום", "עולם"]]


def test_a_line_of_the_script_ends_a_group() -> None:
    groups = grouped(words("Roses are\nred"), STYLES["clean"])

    assert [len(group.words) for group in groups] == [2, 1]


def test_a_hebrew_sentence_that_begins_in_latin_runs_to_the_left() -> None:
    group = grouped(words("iPhone הוא טלפון"), STYLES["bold"])[0]
    picture = lettered(group, STYLES["bold"], 0, WIDE)

    solid = picture[..., 3] > 200
    yellow = solid & (picture[..., 2] < 60) & (picture[..., 0] > 200)
    white = solid & (picture[..., 2] > 200)
    assert np.nonzero(yellow)[1].min() > np.nonzero(white)[1].max()


def test_thousands_of_words_without_a_stop_are_grouped_at_once() -> None:
    groups = grouped(words("honey never spoils " * 1000, 600.0), STYLES["bold"])

    assert sum(len(group.words) for group in groups) == 3000


@pytest.mark.parametrize("style", STYLES)
def test_captions_stand_out_from_a_white_picture(style: str) -> None:
    frame = rgb_frame(np.full((180, 320, 3), 250, np.uint8))
    Captions(words(), style, "bottom", (320, 180)).draw(frame, 0.3)

    luma = rgb_of(frame).astype(int).mean(axis=2)

    # Each style has letters and something dark right beside them, and enough of it.
    assert (luma < 110).sum() > 250
    assert (luma > 170).sum() > 250
