"""The plug-in contract: progress that only grows and can be canceled, jobs and assets."""

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.engines.base import Asset, CanceledError, Engine, Job, Progress, seed_parameter


@given(st.lists(st.floats(-1, 2)))
def test_progress_never_decreases_and_stays_between_0_and_1(fractions: list[float]) -> None:
    seen: list[float] = []
    progress = Progress(seen.append)
    for fraction in fractions:
        progress.report(fraction)

    assert seen == sorted(seen)
    assert all(0 <= fraction <= 1 for fraction in seen)
    assert len(seen) == len(fractions)


def test_progress_over_items_ends_at_one() -> None:
    seen: list[float] = []

    assert list(Progress(seen.append).over(["a", "b", "c", "d"])) == ["a", "b", "c", "d"]
    assert seen == [0.25, 0.5, 0.75, 1.0]


def test_progress_of_a_part_covers_its_range() -> None:
    seen: list[float] = []
    whole = Progress(seen.append)
    first, second = whole.part(0, 0.5), whole.part(0.5, 1)
    for part in (first, second.part(0, 0.5)):
        part.report(0)
        part.report(1)

    assert seen == [0, 0.5, 0.5, 0.75]


def test_a_cancel_reaches_every_part() -> None:
    progress = Progress()
    part = progress.part(0, 0.5).part(0, 0.5)
    part.check()
    progress.cancel()

    for act in (part.check, lambda: part.report(0.1), lambda: list(progress.over([1]))):
        with pytest.raises(CanceledError):
            act()


def test_jobs_and_assets_are_immutable(tmp_path: Path) -> None:
    job = Job(prompt="x", parameters={}, folder=tmp_path)
    asset = Asset(path=tmp_path / "a", content_type="image/png", width=1, height=1)

    assert (job.seed, job.media, asset.metadata) == (0, {}, {})
    with pytest.raises(FrozenInstanceError):
        job.prompt = "y"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        asset.width = 2  # type: ignore[misc]


def test_an_engine_must_render() -> None:
    with pytest.raises(TypeError, match="render"):
        Engine()  # type: ignore[abstract]


def test_a_seed_is_any_number_of_32_bits_or_none() -> None:
    seed = seed_parameter()

    assert (seed.name, seed.type, seed.minimum, seed.maximum) == ("seed", "integer", 0, 2**32 - 1)
    assert seed.default is None
    assert not seed.required
