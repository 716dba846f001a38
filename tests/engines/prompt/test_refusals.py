import subprocess
import sys
import time

import pytest

from kit.engines.base import Order
from kit.engines.prompt.reading import NOTHING_KNOWN, prompt_problems
from kit.engines.registry import engine_for

PAINTED = ["scene", "scene-fast", "poster", "drift", "flythrough", "living-scene"]


def problems(model: str, prompt: str, **changed: object) -> list[tuple[str, str]]:
    engine = engine_for(model)
    values = {setting.name: setting.default for setting in engine.definition.settings}
    return list(engine.check(Order(prompt=prompt, parameters={**values, **changed})))


@pytest.mark.parametrize("model", PAINTED)
@pytest.mark.parametrize(
    "prompt",
    [
        "Times Square",
        "Santorini",
        "a coral reef",
        "a cat astronaut",
        "a wooden table",
        "夜の海",
        "?!",
    ],
)
def test_a_prompt_of_which_nothing_is_understood_is_refused(model: str, prompt: str) -> None:
    assert problems(model, prompt) == [("prompt", NOTHING_KNOWN)]


@pytest.mark.parametrize("model", PAINTED)
@pytest.mark.parametrize("prompt", ["a cat on a beach", "sunset", "calm", "teal", "birds", "🌲"])
def test_a_prompt_of_which_a_part_is_understood_is_painted(model: str, prompt: str) -> None:
    assert problems(model, prompt) == []


def test_what_a_model_cannot_paint_it_does_not_understand() -> None:
    assert problems("scene", "a nebula") == []
    assert problems("poster", "a nebula") == [("prompt", NOTHING_KNOWN)]
    assert problems("flythrough", "a tokyo alley") == [("prompt", NOTHING_KNOWN)]


def test_a_setting_may_say_what_is_painted() -> None:
    assert problems("scene", "Santorini", family="sea") == []
    assert problems("flythrough", "Santorini", land="islands") == []


def test_a_film_may_be_asked_for_its_camera_alone() -> None:
    assert problems("drift", "slow pan to the left") == []
    assert problems("scene", "slow pan to the left") == [("prompt", NOTHING_KNOWN)]


def test_the_sentence_says_what_can_be_painted_and_how_to_add_a_model() -> None:
    assert "lakes" in NOTHING_KNOWN
    assert "engines.toml" in NOTHING_KNOWN


def test_long_prompts_are_checked_in_an_instant() -> None:
    prompt = ("a zebra near a table, a chair and the window of an office. " * 70)[:4000]
    list(prompt_problems(prompt, {}))  # words are loaded once
    spent = []
    for _ in range(5):
        before = time.process_time()
        list(prompt_problems(prompt, {}))
        spent.append(time.process_time() - before)

    assert min(spent) < 0.02  # about 0.002 on an idle machine


def test_reading_a_prompt_loads_nothing_heavy() -> None:
    script = (
        "import sys; from kit.engines.prompt.reading import prompt_problems;"
        "assert list(prompt_problems('a cat', {}));"
        "assert not {'numpy', 'cv2', 'PIL', 'av'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
