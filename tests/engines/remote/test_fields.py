"""Keys of an entry for the fields of a request, and the fields that are sent."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.engines.base import Job, Progress
from kit.engines.remote.endpoints import images, videos
from kit.errors import ConfigError, EngineError
from tests.engines.remote.conftest import Server, build

Jobs = Callable[..., Job]


@pytest.mark.parametrize("kind", [images, videos])
def test_constant_fields_are_sent_and_are_not_settings(
    server: Server, job: Jobs, kind: Any
) -> None:
    """SGLang draws its noise on a GPU unless ``generator_device`` is set."""
    always = {"generator_device": "cpu", "extra_params": {"shift": 3}}
    engine = build(server, kind, job().folder, always=always)
    assert engine.definition.settings == ()

    with pytest.raises(EngineError):
        engine.render(job(), Progress())

    body = server.requests[0].body
    assert b"generator_device" in body
    assert b'"shift"' in body


@pytest.mark.parametrize("kind", [images, videos])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"always": {"prompt": "x"}}, "'always.prompt': this field"),
        (
            {"always": {"fps": 16}, "parameters": [{"name": "fps", "type": "integer"}]},
            "no parameter may be called 'fps'",
        ),
    ],
)
def test_a_constant_field_cannot_be_defined_twice(
    kind: Any, change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        build(Server("http://host"), kind, tmp_path, **change)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"picture_field": "files"}, "'picture_field' needs 'pictures'"),
        (
            {"picture_field": "files", "pictures": 1, "mask": True},
            "'mask' and 'picture_field' make no sense together",
        ),
        ({"edits": "http://elsewhere.org/x"}, "must be a path below the address"),
    ],
)
def test_invalid_fields_are_refused(change: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        build(Server("http://host"), images, tmp_path, **change)
