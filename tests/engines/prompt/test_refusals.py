import subprocess
import sys
import time

import pytest

from kit.engines.base import Order
from kit.engines.prompt.reading import NOTHING_KNOWN, prompt_problems
from kit.engines.registry import engine_for

PAINTING_MODELS = ["scene", "scene-fast", "poster", "drift", "flythrough", "living-scene"]


def find_problems(model: str, prompt: str, **changed: object) -> list[tuple[str, str]]:
    engine = engine_for(model)
    values = {setting.name: setting.default for setting in engine.definition.settings}
    return list(engine.check(Order(prompt=prompt, parameters={**values, **changed})))


@pytest.mark.parametrize("model", PAINTING_MODELS)
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
def test_a_prompt_without_known_words_is_refused(model: str, prompt: str) -> None:
    assert find_problems(model, prompt) == [("prompt", NOTHING_KNOWN)]


@pytest.mark.parametrize("model", PAINTING_MODELS)
@pytest.mark.parametrize("prompt", ["a cat on a beach", "sunset", "calm", "teal", "birds", "🌲"])
def test_a_prompt_with_a_known_word_is_accepted(model: str, prompt: str) -> None:
    assert find_problems(model, prompt) == []


def test_a_model_does_not_know_words_that_it_cannot_paint() -> None:
    assert find_problems("scene", "a nebula") == []
    assert find_problems("poster", "a nebula") == [("prompt", NOTHING_KNOWN)]
    assert find_problems("flythrough", "a tokyo alley") == [("prompt", NOTHING_KNOWN)]


def test_a_setting_can_replace_known_words() -> None:
    assert find_problems("scene", "Santorini", family="sea") == []
    assert find_problems("flythrough", "Santorini", land="islands") == []


def test_a_prompt_for_a_film_may_be_only_about_the_camera() -> None:
    assert find_problems("drift", "slow pan to the left") == []
    assert find_problems("scene", "slow pan to the left") == [("prompt", NOTHING_KNOWN)]


def test_the_message_names_paintable_things_and_the_engines_file() -> None:
    assert "lakes" in NOTHING_KNOWN
    assert "engines.toml" in NOTHING_KNOWN


def test_long_prompts_are_checked_quickly() -> None:
    prompt = ("a zebra near a table, a chair and the window of an office. " * 70)[:4000]
    list(prompt_problems(prompt, {}))  # words are loaded once
    spent = []
    for _ in range(5):
        before = time.process_time()
        list(prompt_problems(prompt, {}))
        spent.append(time.process_time() - before)

    assert min(spent) < 0.02  # about 0.002 on an idle machine


def test_reading_a_prompt_imports_no_heavy_library() -> None:
    script = (
        "import sys; from kit.engines.prompt.reading import prompt_problems;"
        "assert list(prompt_problems('a cat', {}));"
        "assert not {'numpy', 'cv2', 'PIL', 'av'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
