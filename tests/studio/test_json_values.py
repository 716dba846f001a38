"""How values of notebooks are sent as JSON."""

from __future__ import annotations

import enum
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kit import wire
from kit.errors import ParameterError
from kit.studio import Studio, requests
from tests.client.third_party import Answer, Server

START = "/v1/creative-studio/generations"
KINDS = {"l": "number", "ratio": "number", "o": "object", "when": "date", "seed": "integer"}
MODEL = {
    "id": "any",
    "supportsPrompt": True,
    "settingParameters": [
        {"name": name, "type": kind, **({"maxItems": 5} if name == "l" else {})}
        for name, kind in KINDS.items()
    ],
}


class Size(enum.Enum):
    BIG = 2


@pytest.fixture
def many(studio: Studio, api: Server) -> Studio:
    api.script("GET", "/v1/creative-studio/models", Answer(200, {"image": [MODEL]}))
    return studio


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"l": np.array([1.0, 2.5])}, {"l": [1.0, 2.5]}),
        ({"l": [np.int64(2), np.float64(1.5)]}, {"l": [2, 1.5]}),
        ({"l": pd.Series([1, 2])}, {"l": [1, 2]}),
        ({"l": range(3)}, {"l": [0, 1, 2]}),
        ({"ratio": Decimal("0.5")}, {"ratio": 0.5}),
        ({"ratio": Decimal(7)}, {"ratio": 7}),
        ({"ratio": Fraction(1, 4)}, {"ratio": 0.25}),
        ({"ratio": pd.NA, "seed": np.int64(3)}, {"seed": 3}),
        ({"ratio": Size.BIG}, {"ratio": 2}),
        ({"o": {"a": np.float32(1), "b": [np.bool_(True), (np.str_("x"),)]}}, None),
        ({"when": date(2026, 1, 2)}, {"when": "2026-01-02"}),
        ({"when": pd.Timestamp("2026-01-02 03:04")}, {"when": "2026-01-02T03:04:00"}),
        ({"when": np.datetime64("2026-01-02T03:04", "ns")}, {"when": "2026-01-02T03:04:00"}),
        ({"when": pd.NaT}, {}),
    ],
)
def test_values_of_notebooks_are_sent_as_json(
    many: Studio, api: Server, given: dict[str, Any], sent: dict[str, Any] | None
) -> None:
    many.start("any", "x", **given)

    body = api.requests("POST", START)[0].json
    expected = {"o": {"a": 1.0, "b": [True, ["x"]]}} if sent is None else sent
    assert body["parameters"] == expected


def make_endless_list() -> list[Any]:
    found: list[Any] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"prompt": 5}, "prompt: must be text, not 5"),
        ({"prompt": b"x"}, "prompt: must be text, not b'x'"),
        ({"prompt": "a\ud800b"}, "prompt: holds half a character"),
        ({"model": None}, "model: is required"),
        ({"model": 5}, "model: must be text, not 5"),
        ({"when": Path("a")}, "parameters.when: must be text, a number"),
        ({"when": {1, 2}}, "not {1, 2}"),
        ({"when": b"x"}, "not b'x'"),
        ({"when": "\udfff"}, "parameters.when: holds half a character"),
        ({"when": np.timedelta64(3, "s")}, "parameters.when: must be a number or text"),
        ({"o": {"a": float("nan")}}, "parameters.o: holds nan"),
        ({"o": {"a": Decimal("Infinity")}}, "parameters.o: holds inf"),
        ({"o": {(1, 2): 3}}, "parameters.o: holds the name (1, 2): names are text"),
        ({"o": make_endless_list()}, "parameters.o: contains itself"),
        ({"ratio": 1j, "seed": object}, "parameters.seed: "),
    ],
)
@pytest.mark.parametrize("verb", ["generate", "estimate", "form"])
def test_an_unsendable_value_is_reported(
    many: Studio, api: Server, verb: str, given: dict[str, Any], sentence: str
) -> None:
    request = {"model": "any", "prompt": "x", **given}
    with pytest.raises(ParameterError) as caught:
        getattr(many, verb)(request.pop("model"), **request)

    assert sentence in str(caught.value)
    assert api.requests("POST") == []


def test_nan_is_refused_with_the_name_of_its_parameter(many: Studio, api: Server) -> None:
    with pytest.raises(ParameterError, match=r"parameters\.ratio: "):
        many.generate("any", "x", ratio=np.nan)
    assert api.requests("POST") == []


def test_an_object_without_a_repr_is_named_by_its_class() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    with pytest.raises(ParameterError, match="not a Mute"):
        requests.json_parameters(wire.Model(id="any"), {"a": Mute()})


# ── equal numbers ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("one", "two"), [(7, 7.0), (7.0, 7), (Decimal("7.0"), np.float32(7))])
def test_equal_numbers_are_equal_requests(many: Studio, api: Server, one: Any, two: Any) -> None:
    first = many.generate("any", "x", ratio=one, o={"deep": [one]})

    assert many.generate("any", "x", ratio=two, o={"deep": [two]}).id == first.id
    assert len(api.requests("POST", START)) == 1
    assert many.generate("any", "x", ratio=7.5, o={"deep": [one]}).id != first.id
