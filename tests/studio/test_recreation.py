"""Reading the request from a generated file, and generating it again."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

import kit
from kit.errors import BudgetError, ConfigError, NotFoundError, ParameterError
from kit.file_metadata import ALGORITHMIC, ENHANCED
from kit.studio import Studio
from tests.client.third_party import Answer, Server
from tests.conftest import ALL_SCOPES, Service, lasting_service

service = lasting_service

SMALL = {"size": 512, "palette": "ember"}


def test_a_saved_file_holds_its_request_as_metadata(own: Studio, tmp_path: Path) -> None:
    lake = own.generate("poster", "a lake at dawn", **SMALL)

    found = own.read(lake.save(tmp_path / "lake.jpg"))

    assert (found.model, found.prompt, found.parameters) == (
        "poster",
        "a lake at dawn",
        lake.parameters,
    )
    assert own.read(lake) == found
    assert (found.generation_id, found.source_type) == (lake.id, ALGORITHMIC)
    assert found.software == f"creative-studio-kit {kit.__version__}"
    assert own.read(lake.save(tmp_path / "lake.png")) == found
    edited = own.generate("retouch", media=lake)
    assert own.read(edited.output.path()).source_type == ENHANCED


def test_a_file_can_be_saved_without_metadata(own: Studio, tmp_path: Path) -> None:
    lake = own.generate("poster", "a lake at dawn", **SMALL)

    for name in ("lake.jpg", "lake.png"):
        with pytest.raises(ConfigError, match=f"{name} has no metadata about its generation"):
            own.read(lake.save(tmp_path / name, metadata=False))


def test_a_file_is_recreated_with_and_without_changes(own: Studio, tmp_path: Path) -> None:
    lake = own.generate("poster", "a lake at dawn", **SMALL)
    file = lake.save(tmp_path / "lake.png")

    same = own.recreate(file)
    other = own.recreate(lake, seed=8, prompt="a lake at night")
    retouched = own.generate("retouch", image=lake)
    for given in ({"image": other}, {"parameters": {"image": other}}):
        assert own.read(own.recreate(retouched, **given)).inputs == [other.id]

    assert (same.prompt, same.parameters) == (lake.prompt, lake.parameters)
    assert (same.array() == lake.array()).all()
    assert (other.prompt, other.parameters) == ("a lake at night", {**lake.parameters, "seed": 8})


def test_another_model_ignores_parameters_that_it_lacks(
    own: Studio, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = own.generate("poster", "a lake at dawn", seed=3, **SMALL).save(tmp_path / "lake.png")

    with caplog.at_level(logging.WARNING, "kit"):
        made = own.recreate(file, model="title-card")

    assert (made.model_id, made.parameters["seed"]) == ("title-card", 3)
    assert (
        "the model title-card has no grain, layers, mist, palette, stars: left out" in caplog.text
    )


def test_a_file_that_cannot_be_recreated_is_reported(own: Studio, tmp_path: Path) -> None:
    file = own.generate("poster", "a lake at dawn", **SMALL).save(tmp_path / "lake.png")

    with pytest.raises(NotFoundError, match="no model 'sceen'; did you mean 'scene'"):
        own.recreate(file, model="sceen")
    with pytest.raises(ParameterError, match="palete"):
        own.recreate(file, palete="ember")
    for gone in (tmp_path / "none.png", "~nobody-here/a.png"):
        with pytest.raises(ConfigError, match="there is no file"):
            own.recreate(gone)


def test_recreate_is_priced_before_it_is_sent(studio: Studio, api: Server, tmp_path: Path) -> None:
    file = studio.generate("paint", "a lake").save(tmp_path / "lake.png")
    sent = len(api.requests("POST", "/v1/creative-studio/generations"))

    with studio.budget(credits=0.1), pytest.raises(BudgetError, match=r"0\.25 credits"):
        studio.recreate(file, size=256)

    assert len(api.requests("POST", "/v1/creative-studio/generations")) == sent
    assert studio.recreate(file).credits == 0.25


def test_a_generation_is_recreated_although_its_file_has_no_metadata(
    studio: Studio, own: Studio
) -> None:
    lake = studio.generate("paint", "a lake", style="ink")

    other = studio.recreate(lake, size=256)

    assert (other.prompt, other.parameters) == ("a lake", {"style": "ink", "size": 256})
    edited = studio.generate("retouch", picture=lake)
    again = studio.recreate(edited, again=True)
    assert again.lineage().inputs[again.id] == [lake.id]
    plain = own.generate("poster", "a lake at dawn", metadata=False, **SMALL)
    assert own.recreate(plain, palette="lagoon").parameters["size"] == SMALL["size"]


def test_parameters_named_like_arguments_are_changed_in_parameters(
    studio: Studio, api: Server
) -> None:
    names = [{"name": name, "type": "string"} for name in ("model", "prompt")]
    models = [{"id": "m", "supportsPrompt": True, "settingParameters": names}]
    api.script("GET", "/v1/creative-studio/models", Answer(200, {"image": models}))
    made = studio.generate("m", "a lake", parameters={"model": "v1", "prompt": "inner"})

    other = studio.recreate(made, parameters={"model": "v2"})

    assert (other.prompt, other.parameters) == ("a lake", {"model": "v2", "prompt": "inner"})


def test_unread_settings_of_another_programs_file_are_reported(
    studio: Studio, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("parameters", "a lake\nSteps: 20, Sampler: Euler a, Seed: 7, Model: dream")
    Image.new("RGB", (4, 4)).save(file := tmp_path / "dream.png", pnginfo=info)

    with caplog.at_level(logging.WARNING, "kit"):
        made = studio.recreate(file, model="paint")

    assert (made.model_id, made.prompt) == ("paint", "a lake")
    assert studio.read(file).unread == ["Sampler: Euler a"]
    assert "left out: Sampler: Euler a" in caplog.text
    assert "the model paint has no num_inference_steps, seed: left out" in caplog.text
    with pytest.raises(NotFoundError, match="no model 'dream'"):
        studio.recreate(file)


def test_a_saved_file_of_another_service_holds_its_request(studio: Studio, tmp_path: Path) -> None:
    made = studio.generate("paint", "a lake")

    found = studio.read(made.save(tmp_path / "lake.png"))

    assert (found.model, found.prompt, found.generation_id) == ("paint", "a lake", made.id)
    assert made.output.path().read_bytes() != (tmp_path / "lake.png").read_bytes()


def test_a_service_may_omit_metadata(start_service: Callable[..., Service], tmp_path: Path) -> None:
    service = start_service(file_metadata=False)
    key = service.key(service.account(), *ALL_SCOPES)
    with kit.connect(service.url, key, data=tmp_path / "client") as studio:
        lake = studio.generate("poster", "a lake", **SMALL)

        with pytest.raises(ConfigError, match="no metadata about its generation"):
            studio.read(lake.output.path())
