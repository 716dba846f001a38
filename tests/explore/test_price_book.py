from __future__ import annotations

import math
import random
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.explore.fitting import fit
from kit.explore.price_book import PriceBook, make_samples
from kit.private import JsonLines
from tests.rights import is_private

STEPS = wire.Parameter(name="steps", type="integer", default=20)
STYLE = wire.Parameter(name="style", enum=["oil", "ink"])
NOTE = wire.Parameter(name="note", type="textarea")
SEED = wire.Parameter(name="seed", type="integer")
MODEL = wire.Model(id="m", setting_parameters=[STEPS, STYLE, NOTE, SEED])


def price_by_rule(values: Mapping[str, Any]) -> float:
    factor = {"480p": 1, "720p": 1.8, "1080p": 3.2}[values["size"]]
    exact = (0.1 + 0.05 * values["seconds"]) * factor * (1.5 if values["hd"] else 1)
    return math.ceil(exact * 100 - 1e-9) / 100


def price_by_sum(values: Mapping[str, Any]) -> float:
    extra = {"480p": 0, "720p": 0.2, "1080p": 0.5}[values["size"]]
    return 0.1 + 0.03 * values["seconds"] + extra


def price_by_product(values: Mapping[str, Any]) -> float:
    return 0.02 * values["seconds"] ** 1.5 * (3 if values["hd"] else 1)


def make_values(count: int, seed: int = 1) -> list[dict[str, Any]]:
    rng = random.Random(seed)
    return [
        {
            "seconds": rng.randint(2, 10),
            "size": rng.choice(["480p", "720p", "1080p"]),
            "hd": rng.random() < 0.5,
            "mood": rng.choice("abc"),
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("charge", [price_by_rule, price_by_sum, price_by_product])
def test_a_price_is_learned_from_receipts_with_its_error(charge: Any) -> None:
    found = fit([(values, charge(values)) for values in make_values(60)])

    assert found is not None
    assert found.error <= 0.05
    for values in make_values(50, seed=2):
        guess = found.price(values)
        assert guess is not None
        assert guess[0] == pytest.approx(charge(values), abs=0.03)


def test_the_fitted_structure_is_the_one_of_the_prices() -> None:
    assert fit([(v, price_by_rule(v)) for v in make_values(60)]).structure == "rule"  # type: ignore[union-attr]
    found = fit([(v, price_by_sum(v)) for v in make_values(60)])
    assert found is not None
    assert set(found.names) == {"seconds", "size"}


@pytest.mark.parametrize("count", [2, 20])
def test_too_few_receipts_or_noise_give_no_price(count: int) -> None:
    rng = random.Random(3)
    assert fit([({"n": n}, rng.choice([0.01, 5.0])) for n in range(count)]) is None


def test_a_choice_without_receipts_has_no_price() -> None:
    found = fit([({"size": s, "n": n}, 0.1 * n) for n, s in enumerate("ababab", 1)])

    assert found is not None
    assert found.price({"size": "z", "n": 3}) is None


def test_a_new_value_of_a_constant_setting_has_no_price() -> None:
    found = fit([({"steps": 20}, 0.25)] * 5)

    assert found is not None
    assert found.price({"steps": 20}) == (0.25, 0.0)
    assert found.price({"steps": 50}) is None


def test_the_error_grows_outside_the_range_of_receipts() -> None:
    found = fit([({"n": n}, 0.1 + 0.02 * n) for n in range(1, 9)])

    assert found is not None
    price, error = found.price({"n": 20}) or (0, 0)
    assert price == pytest.approx(0.5)
    assert error == pytest.approx(0.24)


@pytest.fixture
def lines(tmp_path: Path) -> JsonLines:
    return JsonLines(tmp_path / "prices.jsonl")


def test_a_charge_is_the_price_of_an_equal_request(lines: JsonLines) -> None:
    book = PriceBook(lines)
    book.add(MODEL, {"steps": 20, "seed": 7, "note": "x"}, Decimal("0.25"))

    quote = book.quote(MODEL, {"steps": 20, "seed": 8, "note": "y"})
    assert quote is not None
    assert (quote.total, quote.error, quote.samples) == (Decimal("0.25"), 0, 1)
    assert quote.terms[0].kind == "learned from 1 receipt, ± 0"
    assert book.quote(MODEL, {"steps": 21}) is None


def test_a_changed_price_is_the_newest_with_the_difference_as_error(lines: JsonLines) -> None:
    book = PriceBook(lines)
    for amount in ("0.2", "0.3"):
        book.add(MODEL, {"steps": 20}, Decimal(amount))

    quote = book.quote(MODEL, {"steps": 20})
    assert quote is not None
    assert (quote.total, quote.error) == (Decimal("0.3"), Decimal("0.1"))


def test_broken_lines_of_a_price_book_are_skipped(lines: JsonLines) -> None:
    PriceBook(lines).add(MODEL, {"steps": 20}, Decimal("0.25"))
    with lines.path.open("a") as file:
        file.write('{"model": "m", "values": {"st\n{"model": "m"}\n[1]\n')

    assert PriceBook(lines).quote(MODEL, {"steps": 20}) is not None
    assert is_private(lines.path)


def row(number: int, credits: float, **fields: Any) -> dict[str, Any]:
    return {"id": f"g{number}", "credits": credits, "parameters": None, "media": None, **fields}


def test_samples_of_a_history_have_defaults_filled_in() -> None:
    rows = [row(1, 0.25), row(2, 0.5, parameters='{"steps": 40, "style": null, "note": "x"}')]

    known = [(sample.values, sample.credits) for sample in make_samples(MODEL, rows)]

    assert known == [({"steps": 20}, Decimal("0.25")), ({"steps": 40}, Decimal("0.5"))]


def test_a_charge_for_a_file_of_unknown_length_is_no_sample() -> None:
    media = [wire.Parameter(name=n, type=n, media=True) for n in ("image", "video")]
    model = wire.Model(id="m", media_parameters=media)
    rows = [row(n, 1.0, media=f'{{"{name}": 1}}') for n, name in enumerate(("image", "video"))]

    assert [sample.id for sample in make_samples(model, rows)] == ["g0"]


def test_samples_of_a_newer_history_replace_the_earlier_ones(lines: JsonLines) -> None:
    book = PriceBook(lines)
    book.add(MODEL, {"steps": 20}, Decimal("0.3"), "g2")
    for rows in ([row(1, 0.2)], [row(1, 0.2), row(2, 0.3)]):
        book.learn(MODEL, make_samples(MODEL, rows))

        quote = book.quote(MODEL, {"steps": 20})
        assert quote is not None
        assert (quote.total, quote.samples) == (Decimal("0.3"), 2)
    assert len(list(lines)) == 1
