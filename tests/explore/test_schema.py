from __future__ import annotations

import pytest

from kit.explore import schema


@pytest.mark.parametrize("name", schema.TABLES)
def test_every_column_says_what_it_means(name: str) -> None:
    described = schema.describe(name)

    assert described.index.tolist() == list(schema.TABLES[name])
    assert (described["meaning"].str.len() > 5).all()


@pytest.mark.parametrize("name", schema.TABLES)
def test_what_is_money_or_time_has_its_unit(name: str) -> None:
    for column, about in schema.TABLES[name].items():
        if "credits" in column and about.dtype == "float64":
            assert about.unit == "credits"
        if column.endswith("seconds"):
            assert about.unit == "s"
