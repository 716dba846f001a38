import pytest

from kit.engines.painting.land.tinting import of_land, of_light, of_water, turned
from kit.engines.prompt.brief import Brief, read


def brief(prompt: str, palette: str = "auto") -> Brief:
    return read(prompt, {"aspect_ratio": "1:1", "size": 512, "palette": palette}, 1)


@pytest.mark.parametrize(
    ("prompt", "land", "water", "light"),
    [
        ("green hills", 148, None, None),
        ("an emerald lake", None, 160, None),
        ("a violet lake", None, None, 297),
        ("rust colored dunes under a teal sky", 42, None, 192),
        ("pink dunes", 352, None, None),
        ("pink mountains", None, None, 352),
        ("mars", None, None, 50),
        ("a lake", None, None, None),
    ],
)
def test_a_color_belongs_to_the_thing_that_has_it_in_nature_else_to_the_light(
    prompt: str, land: int | None, water: int | None, light: int | None
) -> None:
    said = brief(prompt)
    tints = of_land(said), of_water(said), (of_light(said) or (None,))[0]

    assert tuple(tint and tint[0] for tint in tints) == (land, water, light)


def test_a_palette_tints_the_land_as_well_as_the_light() -> None:
    assert of_land(brief("a lake", "ember")) == (22, 0.14)
    assert of_light(brief("a lake", "ember")) == ((8, 0.13), (32, 0.16), (70, 0.14))


def test_light_without_color_drains_land_and_water() -> None:
    said = brief("a gray sea")

    assert of_land(said) == of_water(said) == (255, 0.012)


def test_a_color_turns_the_short_way_round_and_stays_as_light() -> None:
    assert turned((0.5, 0.1, 350), (10, 0.2), 0.5) == pytest.approx((0.5, 0.15, 0))
    assert turned((0.5, 0.1, 350), None) == (0.5, 0.1, 350)
