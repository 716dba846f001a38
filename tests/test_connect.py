from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kit
from kit import local
from kit.errors import BadRequestError, ConfigError

HEAVY = ("httpx", "pydantic", "pandas", "numpy", "ipywidgets", "PIL", "av", "asyncio", "IPython")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder whose embedded service is stopped at the end."""
    yield tmp_path
    local.stop()


def modules_after(line: str) -> set[str]:
    """Return the modules that a new interpreter has imported after a line of code."""
    code = f"import sys\n{line}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_importing_the_kit_imports_no_large_package() -> None:
    assert not modules_after("import kit") & set(HEAVY)


def test_connecting_imports_no_http_client_and_no_pandas(tmp_path: Path) -> None:
    line = f"import kit; kit.connect('http://127.0.0.1:9', 'cs_test_x', data={str(tmp_path)!r})"

    assert not modules_after(line) & (set(HEAVY) - {"pydantic"})


def test_the_embedded_service_starts_without_importing_later_modules(tmp_path: Path) -> None:
    loaded = modules_after(
        f"import kit; kit.connect(data={str(tmp_path)!r}).account; kit.local.stop()"
    )

    later = {
        "kit.engines.configured.entries",
        "kit.explore.archive",
        "kit.file_metadata",
        "kit.service.http.openapi",
        "kit.studio.accounts",
        "kit.studio.forms",
        "kit.studio.panel",
        "kit.widgets.form",
        "xml.sax",
    }
    others = {"asyncpg", "c2pa", "distributed", "duckdb", "obstore", "prometheus_client", "pyarrow"}
    heavy = {"IPython", "numpy", "pandas", "PIL", "av", "ipywidgets", "pygments", "rich"}
    assert not loaded & (later | others | heavy)


def test_connecting_sends_no_request(tmp_path: Path) -> None:
    studio = kit.connect("http://127.0.0.1:9", "cs_test_x", data=tmp_path)

    assert repr(studio) == "<Studio http://127.0.0.1:9>"
    assert list(tmp_path.iterdir()) == []


def test_a_url_without_a_key_is_refused() -> None:
    with pytest.raises(ConfigError, match="pass api_key as well"):
        kit.connect("http://127.0.0.1:9")


def test_aconnect_without_an_asyncio_loop_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"as under trio, call kit\.connect\(\)"):
        kit.aconnect().send(None)


def test_connect_without_a_url_starts_an_embedded_service(data: Path) -> None:
    with kit.connect(data=data) as studio:
        assert repr(studio) == "<Studio embedded>"
        assert studio.account.credits is not None
        assert len(studio.models) > 0


@pytest.mark.parametrize("awaited", [False, True])
def test_a_studio_is_pickled_without_its_key_and_opened_again(data: Path, awaited: bool) -> None:
    studio = asyncio.run(kit.aconnect(data=data)) if awaited else kit.connect(data=data)
    stored = pickle.dumps(studio)

    assert studio.client.settings.api_key.encode() not in stored
    opened = pickle.loads(stored)
    assert type(opened) is type(studio)
    assert opened.client.settings == studio.client.settings
    assert copy.deepcopy(studio) is studio


@pytest.mark.parametrize("held", [lambda studio: studio, lambda studio: studio.costs])
def test_an_object_that_would_need_the_key_cannot_be_pickled(tmp_path: Path, held: Any) -> None:
    studio = kit.connect("http://127.0.0.1:9", "cs_test_x", data=tmp_path)

    with pytest.raises(ConfigError, match=r"cannot be pickled.*kit\.connect\(\)"):
        pickle.dumps(held(studio))


def test_an_estimate_equals_the_charge_and_the_ledger_agrees(data: Path) -> None:
    with kit.connect(data=data) as studio:
        before = studio.account.credits
        quote = studio.estimate("poster", "a lake at dawn", size=512, seed=1)
        generation = studio.generate("poster", "a lake at dawn", size=512, seed=1)
        again = studio.generate("poster", "a lake at dawn", size=512, seed=1)
        ledger = studio.usage.frame()

        assert quote.source == "rule"
        assert generation.credits == float(quote.total)
        assert again.id == generation.id
        assert studio.account.credits == before - quote.total
        assert ledger["credits"].sum() == pytest.approx(float(studio.account.credits))
        assert studio.history.frame()["credits_source"].tolist() == ["service"]
        assert len(generation.output.bytes()) == generation.output.facts.size_bytes


def test_async_and_blocking_studios_share_the_embedded_service(data: Path) -> None:
    generation = None
    with kit.connect(data=data) as studio:
        generation = studio.generate("poster", "a lake at dawn", size=512, seed=1)

    async def cell() -> str:
        async with await kit.aconnect(data=data) as astudio:
            return (await astudio.generate("poster", "a lake at dawn", size=512, seed=1)).id

    assert asyncio.run(cell()) == generation.id


def test_unusable_prompts_are_not_charged_and_unused_words_are_reported(data: Path) -> None:
    with kit.connect(data=data) as studio:
        before = studio.account.credits
        with pytest.raises(BadRequestError, match="neural model"):
            studio.generate("poster", "a cat astronaut", size=256, seed=1)
        assert studio.account.credits == before

        generation = studio.generate("poster", "a cat by a lake", size=256, seed=1)
        assert generation.metadata == {"words": {"used": ["lake"], "unused": ["cat"]}}
        assert "not painted: cat" in generation._repr_mimebundle_()["text/html"]
