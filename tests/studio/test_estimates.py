"""An estimate equals the charge, for random valid requests to every installed model.

The studio makes the estimate and the service's plan of the start the charge: the request is sent
as JSON, and its media have rows like those of uploads.
"""

from __future__ import annotations

import io
import itertools
import math
import random
import wave
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import kit
from kit import local, pricing, wire
from kit.client.calls import Flow
from kit.client.flows import PATIENT
from kit.client.settings import Settings
from kit.client.uploads import FileSource
from kit.engines.registry import list_engines
from kit.errors import BadRequestError
from kit.service.domain import catalog, generations
from kit.studio import Studio
from kit.studio.catalog import ModelCatalog
from kit.studio.operations import Operations
from kit.studio.requests import body_of
from tests.conftest import Service

CATALOG = catalog.load(engine.definition for engine in list_engines().values())
MODELS = sorted(CATALOG.models)
Request = tuple[wire.Model, str | None, dict[str, Any], dict[str, Any]]
TYPES = {"image": "image/png", "video": "video/mp4", "audio": "audio/wav"}


@dataclass(frozen=True)
class Timed(FileSource):
    """A file with a known length, which needs no decoding."""

    exact: Fraction = field(default=Fraction(0))

    def measure(self) -> Fraction:
        return Fraction(round(round(float(self.exact), 3) * 1000), 1000)


def draw_value(parameter: wire.Parameter) -> st.SearchStrategy[Any]:
    if parameter.enum:
        one: st.SearchStrategy[Any] = st.sampled_from(parameter.enum)
    elif parameter.type == "boolean":
        one = st.booleans()
    elif parameter.type in ("integer", "number"):
        low = parameter.minimum if parameter.minimum is not None else -1000
        high = parameter.maximum if parameter.maximum is not None else low + 10_000
        whole = st.integers(math.ceil(low), math.floor(high))
        floats = st.floats(low, high, allow_nan=False).filter(lambda x: low <= x <= high)
        one = whole if parameter.type == "integer" else floats | whole.filter(lambda x: low <= x)
    else:
        one = st.text("abc #", max_size=5)
    return one if parameter.max_items is None else st.lists(one, max_size=parameter.max_items)


def draw_files(parameter: wire.Parameter) -> st.SearchStrategy[list[Timed]]:
    """Files with lengths in microseconds, as headers have them."""
    micros = st.integers(1, 600_000_000)
    kind = TYPES[parameter.type]
    name = f"{parameter.name}.bin"
    one = micros.map(lambda m: Timed(name, kind, 1, io.BytesIO, exact=Fraction(m, 1_000_000)))
    least = 1 if parameter.required else 0
    return st.lists(one, min_size=least, max_size=min(3, parameter.max_items or 1))


@st.composite
def draw_requests(draw: st.DrawFn) -> Request:
    model = CATALOG.models[draw(st.sampled_from(MODELS))]
    known = model.setting_parameters
    names = draw(st.sets(st.sampled_from([p.name for p in known]))) if known else set()
    wanted = [p for p in known if p.name in names or (p.required and p.default is None)]
    values = {p.name: draw(draw_value(p)) for p in wanted}
    media = {p.name: draw(draw_files(p)) for p in model.media_parameters}
    prompt = "a lake" if model.supports_prompt else None
    return model, prompt, values, {name: files for name, files in media.items() if files}


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> Operations:
    folder: Path = tmp_path_factory.mktemp("estimates")
    # models as a client receives them, from the JSON of the list
    received = wire.Models.model_validate_json(
        wire.Models(image=[*CATALOG.models.values()]).model_dump_json(by_alias=True)
    )
    catalog_of = ModelCatalog(PATIENT, {m.id: m for m in (*received.image, *received.video)})
    settings = Settings("http://127.0.0.1:1", "cs_test_x", data=folder)
    return Operations(settings, catalog=catalog_of)


def run(flow: Flow[Any]) -> Any:
    """Run a flow that must send no request."""
    try:
        step = next(flow)
    except StopIteration as stop:
        return stop.value
    raise AssertionError(f"it sent {step}")


def get_charge(order: wire.StartGeneration, files: dict[str, Any]) -> int:
    """Return the millicredits that the service takes for a start."""
    work = generations.plan(CATALOG, order, "acc_1")
    rows: list[Any] = []
    try:
        step = next(work)
        while True:
            rows = [files[step.values["id"]]]
            step = work.send(rows)
    except StopIteration as stop:
        return stop.value.amount  # type: ignore[no-any-return]


def make_row(model_id: str, number: int, file: Timed) -> tuple[str, Any]:
    """Return an upload's id and row, with its length rounded as by inspection and upload."""
    seconds = round(float(file.exact), 3)
    row = SimpleNamespace(
        id=f"upl_{number}",
        account_id="acc_1",
        model_id=model_id,
        kind=file.kind,
        state="filled",
        duration_ms=round(seconds * 1000),
    )
    return row.id, row


def check_estimate(operations: Operations, request: Request) -> None:
    """Compare the studio's estimate of a request with the service's charge for it."""
    model, prompt, values, media = request
    order = run(operations.request(model.id, prompt, media, values))
    quote = run(operations.billing.price(order))

    numbers = itertools.count()
    rows = {name: [make_row(model.id, next(numbers), f) for f in fs] for name, fs in media.items()}
    references: dict[str, Any] = {name: [key for key, _ in found] for name, found in rows.items()}
    body = body_of(order, references).model_dump_json(by_alias=True)
    received = wire.StartGeneration.model_validate_json(body)
    uploads = dict(pair for found in rows.values() for pair in found)

    assert quote.source == "rule"
    assert pricing.millicredits(quote.total) == get_charge(received, uploads), request
    assert sum(term.credits for term in quote.terms) == quote.total


@hypothesis_settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(request=draw_requests())
def test_estimates_equal_the_charge_in_edge_cases(operations: Operations, request: Request) -> None:
    check_estimate(operations, request)


@pytest.mark.parametrize("model_id", MODELS)
def test_random_estimates_equal_the_charge(operations: Operations, model_id: str) -> None:
    rng = random.Random(model_id)
    for _ in range(200):
        check_estimate(operations, make_request(CATALOG.models[model_id], rng))


def make_request(model: wire.Model, rng: random.Random) -> Request:
    """Return a random valid request, faster than hypothesis does."""
    values = {
        p.name: choose_value(p, rng)
        for p in model.setting_parameters
        if rng.random() < 0.6 or (p.required and p.default is None)
    }
    media = {}
    for p in model.media_parameters:
        count = rng.randint(1 if p.required else 0, min(3, p.max_items or 1))
        lengths = [Fraction(rng.randint(1, 600_000_000), 1_000_000) for _ in range(count)]
        media[p.name] = [Timed("f", TYPES[p.type], 1, io.BytesIO, exact=x) for x in lengths]
    prompt = "a lake" if model.supports_prompt else None
    return model, prompt, values, {name: files for name, files in media.items() if files}


def choose_value(parameter: wire.Parameter, rng: random.Random) -> Any:
    low, high = parameter.minimum or 0, parameter.maximum or 10_000
    one: Any = {
        "boolean": lambda: rng.random() < 0.5,
        "integer": lambda: rng.randint(math.ceil(low), math.floor(high)),
        "number": lambda: min(high, max(low, round(rng.uniform(low, high), rng.randint(0, 12)))),
    }.get(parameter.type, lambda: "#abc")()
    one = rng.choice(parameter.enum) if parameter.enum else one
    return one if parameter.max_items is None else [one]


# ── what the service would refuse ─────────────────────────────────────────────────────────────────

WRONG_VALUES = [True, -1, 10**6, 10**20, 1.5, "", "x", "5", [], [1], {"a": 1}, "ü" * 5000]
FILE = Timed("f", "image/png", 1, io.BytesIO, exact=Fraction(1))


def break_request(request: Request, rng: random.Random) -> Request:
    """Return a request with one change that may make it invalid."""
    model, prompt, values, media = request
    names = [p.name for p in model.setting_parameters]
    what = rng.choice(["value", "stranger", "prompt", "none", "medium", "many"])
    if what == "value" and names:
        values = {**values, rng.choice(names): rng.choice(WRONG_VALUES)}
    changes = {
        "stranger": (prompt, {**values, "stile": 1}, media),
        "prompt": (rng.choice([None, " ", "x" * 5000, "a"]), values, media),
        "none": (prompt, values, {}),
        "medium": (prompt, values, {**media, "pictur": [FILE]}),
        "many": (prompt, values, {name: files * 9 for name, files in media.items()}),
    }
    return (model, *changes.get(what, (prompt, values, media)))


def find_studio_error(operations: Operations, request: Request) -> str | None:
    model, prompt, values, media = request
    try:
        run(operations.billing.price(run(operations.request(model.id, prompt, media, values))))
    except BadRequestError as error:
        return str(error)
    return None


def find_service_error(request: Request) -> str | None:
    model, prompt, values, media = request
    files = [file for group in media.values() for file in group]
    uploads = dict(make_row(model.id, number, file) for number, file in enumerate(files))
    ids = iter(uploads)
    references = {name: [next(ids) for _ in group] for name, group in media.items()}
    body = {"modelId": model.id, "prompt": prompt, "parameters": values}
    order = wire.StartGeneration.model_validate({**body, "mediaUploads": references})
    try:
        get_charge(order, uploads)
    except BadRequestError as error:
        return str(error)
    return None


@pytest.mark.parametrize("model_id", MODELS)
def test_a_request_refused_by_start_has_no_estimate(operations: Operations, model_id: str) -> None:
    rng = random.Random(model_id)
    errors = set()
    for _ in range(60):
        request = break_request(make_request(CATALOG.models[model_id], rng), rng)

        assert find_studio_error(operations, request) == find_service_error(request)
        errors.add(find_studio_error(operations, request))
    assert len(errors) > 3


def test_an_estimate_for_a_fraction_of_a_millisecond_equals_the_charge(
    service: Service, key: str, tmp_path: Path
) -> None:
    """The length of a real file ends a third of a millisecond after a step of the price."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        file.writeframes(b"\0\0" * (48_000 * 3 + 16))
    picture = _make_png()
    config = Settings(service.url, key, data=tmp_path / "notebook", progress=False)
    with Studio(config) as studio:
        media = {"portrait": picture, "voice": buffer.getvalue()}
        quote = studio.estimate("clay", media=media)
        before = studio.account.credits
        made = studio.generate("clay", media=media)

        assert before is not None
        assert made.credits == float(quote.total)
        assert quote.total == before - (studio.account.credits or 0)


def _make_png() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (32, 32), "teal").save(buffer, "PNG")
    return buffer.getvalue()


def test_a_prompt_that_the_model_refuses_has_no_estimate(tmp_path: Path) -> None:
    with kit.connect(data=tmp_path / "data") as studio:
        balance = studio.account.credits
        fine = studio.estimate("scene", "a lake")  # loads the check
        for priced in (
            lambda: studio.estimate("scene", "zzyzx qwrt"),
            lambda: studio.sweep("scene", ["a lake", "zzyzx qwrt"]),
        ):
            with pytest.raises(BadRequestError, match="has no word that this model can"):
                priced()
        assert (fine.source, fine.affordable, fine.balance) == ("rule", True, balance)
        assert studio.account.credits == balance
    local.stop()
