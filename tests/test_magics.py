"""``%load_ext kit``: the magics, and their messages about invalid input."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from kit.client.settings import Settings
from kit.errors import GenerationFailedError
from kit.studio import AsyncStudio, Studio
from tests.client.fixtures import api, backend, client, clock, media, policy, settings
from tests.client.third_party import KEY, Answer, Server, ThirdParty, png, serve
from tests.conftest import NO_HISTORY
from tests.studio.conftest import studio

__all__ = ["api", "backend", "client", "clock", "media", "policy", "settings", "studio"]
START = "/v1/creative-studio/generations"
MODELS = "/v1/creative-studio/models"


@pytest.fixture
def shell(studio: Studio) -> Iterator[Any]:
    """An IPython shell with the extension, and a studio in its variables."""
    shell = InteractiveShell(config=NO_HISTORY)
    shell.run_line_magic("load_ext", "kit")
    shell.user_ns["studio"] = studio
    yield shell
    for one in shell.user_ns.values():
        if isinstance(one, Studio | AsyncStudio):
            one.client.disconnect()
    shell.history_manager.end_session()


def test_the_cell_is_the_prompt(shell: Any, api: Server) -> None:
    result = shell.run_cell_magic("generate", "paint style=ink steps=7", "\n  a lake\n at dawn \n")

    assert result.output.bytes() == png()
    assert api.requests("POST", START)[0].json == {
        "modelId": "paint",
        "prompt": "a lake\n at dawn",
        "parameters": {"style": "ink", "steps": 7},
    }


def test_again_starts_another_paid_generation(shell: Any, api: Server) -> None:
    for line in ("paint", "paint", "paint --again"):
        shell.run_cell_magic("generate", line, "a lake")

    assert len(api.requests("POST", START)) == 2


def test_media_are_uploaded_from_files(shell: Any, media: Server, tmp_path: Any) -> None:
    (tmp_path / "my face.png").write_bytes(png("red"))

    shell.run_line_magic("generate", f"retouch picture='{tmp_path}/my face.png'")

    assert media.requests("PUT")[0].body == png("red")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("", "which model"),
        ("steps=3", "which model"),
        ("pant", "no model 'pant'; did you mean 'paint'"),
        ("paint stesp=3", "no parameter 'stesp'; did you mean 'steps'"),
        ("paint steps=many", "steps must be a whole number, not 'many'"),
        ("paint steps=", "steps has no value: leave it out"),
        ("retouch pictur=a.png", "no parameter 'pictur'; did you mean 'picture'"),
        ("paint steps=51", "must be at most 50, not 51"),
        ("paint steps", "must be NAME=VALUE, not 'steps'"),
        ("paint steps=1 steps=2", "steps is given more than once"),
        ("paint style='oil", "No closing quotation"),
        ("retouch picture=none.png", "there is no file 'none.png'"),
    ],
)
def test_invalid_input_is_reported_before_any_request(
    shell: Any, api: Server, line: str, sentence: str
) -> None:
    promptless = line.startswith("retouch")

    with pytest.raises(UsageError, match=sentence):
        _ = (
            shell.run_line_magic("generate", line)
            if promptless
            else shell.run_cell_magic("generate", line, "a lake")
        )

    assert api.requests("POST") == []


def test_a_failed_generation_is_raised_with_its_id(shell: Any, backend: ThirdParty) -> None:
    backend.states, backend.error = ("queued", "error"), {"message": "too dark"}

    with pytest.raises(GenerationFailedError, match="too dark") as caught:
        shell.run_cell_magic("generate", "paint", "night")

    assert caught.value.generation_id == "job-1"


def test_parameters_named_like_arguments_are_parameters(shell: Any, api: Server) -> None:
    names = ("timeout", "again", "model", "media", "prompt", "parameters")
    fields = [{"name": name, "type": "string"} for name in names]
    api.script("GET", MODELS, Answer(200, {"image": [{"id": "odd", "settingParameters": fields}]}))

    line = " ".join(f"{name}=5" for name in names)
    shell.run_cell_magic("generate", f"odd {line} --again", "a lake")

    sent = api.requests("POST", START)[0].json
    assert sent["prompt"] == "a lake"
    assert sent["parameters"] == dict.fromkeys(names, "5")


def test_values_are_parsed_by_the_type_of_their_parameter(shell: Any, api: Server) -> None:
    fields = [
        {"name": "size", "type": "int64"},
        {"name": "noise", "type": "float"},
        {"name": "flag", "type": "bool"},
        {"name": "times", "type": "string", "enum": [1, 2, 3]},
        {"name": "words", "type": "string", "maxItems": 1},
    ]
    api.script("GET", MODELS, Answer(200, {"image": [{"id": "odd", "settingParameters": fields}]}))

    shell.run_cell_magic("generate", "odd size=7 noise=.25 flag=true times=2 words=z", "a lake")

    assert api.requests("POST", START)[0].json["parameters"] == {
        "size": 7,
        "noise": 0.25,
        "flag": True,
        "times": 2,
        "words": ["z"],
    }


@pytest.fixture
def second_service(media: Server) -> Iterator[Server]:
    """A second service with another account."""
    with serve(ThirdParty(media.url, polls=0)) as server:
        yield server


def test_the_current_value_of_the_variable_is_used(
    shell: Any, settings: Settings, api: Server, backend: ThirdParty, second_service: Server
) -> None:
    backend.polls = 0
    there = Settings(second_service.url, KEY, settings.data, progress=False)
    first, second = AsyncStudio(settings), AsyncStudio(there)

    for one, line in ((first, "paint"), (second, "paint --again"), (second, "paint")):
        shell.user_ns["studio"] = one
        shell.run_cell_magic("generate", line, "a lake")
    first.client.disconnect()

    assert len(api.requests("POST", START)) == 1
    assert len(second_service.requests("POST", START)) == 1


def test_magics_without_a_studio_are_refused(shell: Any) -> None:
    del shell.user_ns["studio"]

    for magic in (lambda: shell.run_line_magic("credits", ""), lambda: generate(shell)):
        with pytest.raises(UsageError, match=r"no studio; studio = kit\.connect\(\) makes one"):
            magic()


def test_the_only_studio_is_used_whatever_its_name(shell: Any, api: Server) -> None:
    shell.user_ns["mine"] = shell.user_ns.pop("studio")
    shell.user_ns["also"] = shell.user_ns["mine"]

    assert generate(shell).prompt == "a lake"


def test_one_of_several_studios_must_be_named(
    shell: Any, settings: Settings, api: Server, second_service: Server
) -> None:
    there = Settings(second_service.url, KEY, settings.data, progress=False)
    shell.user_ns["team"] = Studio(there)

    with pytest.raises(UsageError, match=r"studios team and studio: say which.*--studio studio"):
        generate(shell)
    with pytest.raises(UsageError, match="tem is not a studio; did you mean 'team'"):
        generate(shell, "paint --studio tem")
    assert generate(shell, "paint --studio team").prompt == "a lake"
    assert shell.run_line_magic("credits", "team").name == "Ada"
    assert len(second_service.requests("POST", START)) == 1
    assert api.requests("POST", START) == []


def generate(shell: Any, line: str = "paint") -> Any:
    return shell.run_cell_magic("generate", line, "a lake")


def test_a_budget_of_an_async_studio_limits_the_magic(
    shell: Any, settings: Settings, api: Server
) -> None:
    studio = AsyncStudio(settings)
    shell.user_ns["studio"] = studio

    with studio.budget(0.1), pytest.raises(UsageError, match="budget"):
        shell.run_cell_magic("generate", "paint", "a lake")

    assert api.requests("POST", START) == []


def test_the_credits_magic_returns_the_account(shell: Any) -> None:
    assert shell.run_line_magic("credits", "").name == "Ada"
    with pytest.raises(UsageError, match="please is not a studio"):
        shell.run_line_magic("credits", "please")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%%generate ", ["paint", "retouch"]),
        ("%%generate pa", ["paint"]),
        ("%%generate paint st", ["style=oil", "style=ink", "steps="]),
        ("%%generate paint size=3 --", ["--again", "--studio", "--tag"]),
        ("%%generate nothing s", []),
    ],
)
def test_tab_completes_models_and_parameters(shell: Any, line: str, words: list[str]) -> None:
    (complete,) = shell.strdispatchers["complete_command"].s_matches("%%generate")

    assert complete(SimpleNamespace(line=line)) == words


def test_the_magic_sets_tags(shell: Any) -> None:
    result = shell.run_cell_magic("generate", "paint --tag campaign=winter --tag team=a", "a lake")

    assert result.tags == {"campaign": "winter", "team": "a"}
    with pytest.raises(UsageError, match="must be NAME=VALUE, not 'winter'"):
        shell.run_cell_magic("generate", "paint --tag winter", "a lake")
