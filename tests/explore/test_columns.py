from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from kit.explore.arrow import expand_json


def expand(*objects: Any, **given: Any) -> dict[str, list[Any]]:
    texts = [None if o is None else json.dumps(o) for o in objects]
    table = expand_json(
        pa.table({"parameters": pa.array(texts, pa.string())}), "parameters", **given
    )
    found = table.drop_columns(["parameters"]).to_pydict()
    return {name.removeprefix("parameters."): values for name, values in found.items()}


@pytest.mark.parametrize(
    ("objects", "found"),
    [
        (
            ({"seed": 7, "hd": True}, None, {"seed": 8, "mood": "calm"}),
            {"seed": [7, None, 8], "hd": [True, None, None], "mood": [None, None, "calm"]},
        ),
        (({"size": 512}, {"size": "big"}, {"size": [1, 2]}), {"size": ["512", "big", "[1, 2]"]}),
        (({"x": 1}, {"x": 2.5}), {"x": [1.0, 2.5]}),
        (({"day": "2026-01-02"},), {"day": ["2026-01-02"]}),
        (([1, 2], {"a": 1}), {"a": [None, 1]}),
        ((), {}),
        ((None,), {}),
        (({}, None), {}),
    ],
)
def test_each_key_becomes_a_column_of_its_values_type(
    objects: tuple[Any, ...], found: dict[str, list[Any]]
) -> None:
    assert expand(*objects) == found


def test_a_key_without_values_is_a_column_of_nulls() -> None:
    assert expand({"a": 1}, names=["b"]) == {"b": [None]}


def test_a_key_may_be_missing_in_most_of_many_rows() -> None:
    rows = [{"a": n, **({"b": n} if n % 600 == 0 else {})} for n in range(1300)]
    found = expand(*rows, {"c": "x"})

    assert found["a"] == [*range(1300), None]
    assert [n for n, value in enumerate(found["b"]) if value is not None] == [0, 600, 1200]
    assert found["c"] == [None] * 1300 + ["x"]
