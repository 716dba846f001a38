"""Jobs on pipelines that are called off, refused, or too large."""

import threading
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kit.engines.base import Asset, CanceledError, Progress, SpentError
from kit.engines.diffusers import pipelines
from kit.engines.diffusers.engine import Pipeline
from kit.errors import EngineError

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from tests.engines.diffusers.tiny_engines import Weights, engine

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn of each other


def test_a_cancel_between_steps_ends_the_job_and_leaves_the_model_sound(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    made = engine(weights, "wan")
    before = render(made)
    progress = Progress(lambda fraction: progress.cancel() if fraction > 0.05 else None)

    with pytest.raises(CanceledError):
        render(made, progress=progress, num_inference_steps=150)
    assert render(made).path.read_bytes() == before.path.read_bytes()


def test_a_cancel_is_heard_while_the_model_is_busy(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    busy, release = threading.Event(), threading.Event()

    def slow(entry: Any) -> Any:
        busy.set()
        release.wait(20)
        raise EngineError("never heard")

    made = Pipeline(engine(weights, "wan").entry, load=slow)
    progress = Progress(lambda _: progress.cancel() if busy.is_set() else None)

    with pytest.raises(CanceledError):
        render(made, progress=progress)
    release.set()


def test_what_a_pipeline_refuses_is_told(weights: Weights, render: Callable[..., Asset]) -> None:
    made = engine(weights, "sd", always={"callback_on_step_end_tensor_inputs": ["no_such"]})

    with pytest.raises(EngineError, match="refuses the job") as caught:
        render(made)
    assert caught.value.code == "bad_parameters"


class Large:
    """Something that a library's frame holds while it fails."""


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (RuntimeError("CUDA out of memory"), EngineError),
        (RuntimeError("a kernel failed"), EngineError),
        (CanceledError("canceled"), CanceledError),
    ],
)
def test_what_a_failing_pipeline_held_is_let_go(
    weights: Weights,
    render: Callable[..., Asset],
    monkeypatch: pytest.MonkeyPatch,
    trouble: Exception,
    told: type[Exception],
) -> None:
    made, held = engine(weights, "sd"), []
    render(made)

    def failing(*_: Any, **__: Any) -> None:
        latents = Large()
        held.append(weakref.ref(latents))
        raise trouble

    monkeypatch.setattr(pipelines.loaded[0].pipeline("text").vae, "decode", failing)
    with pytest.raises(told) as caught:
        render(made)

    # Whoever has the error at hand does not keep gigabytes of tensors alive with it.
    assert caught.value
    assert [one() for one in held] == [None]


def test_a_gpu_that_refuses_everything_spends_the_process(
    weights: Weights, render: Callable[..., Asset], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(weights, "sd")
    before = render(made)

    def refused() -> None:
        raise RuntimeError("CUDA error: device-side assert triggered\nand more of it")

    monkeypatch.setattr("torch.cuda.is_initialized", lambda: True)
    monkeypatch.setattr("torch.cuda.synchronize", refused)
    with pytest.raises(SpentError, match=r"assert triggered$"):
        render(made)
    monkeypatch.undo()
    assert render(made).path.read_bytes() == before.path.read_bytes()


class Scheduler:
    timesteps = range(4)

    def step(self) -> None: ...


class Silent:
    """A pipeline that calls nobody after a step, and takes as many as it is let."""

    def __init__(self) -> None:
        self.scheduler = Scheduler()

    def pipeline(self, _: str) -> "Silent":
        return self

    def __call__(self, prompt: str, num_inference_steps: int = 4) -> Any:
        while num_inference_steps:
            self.scheduler.step()
            num_inference_steps -= num_inference_steps < 150
        return SimpleNamespace(images=np.full((1, 64, 64, 3), 0.5))


def test_a_pipeline_that_tells_nobody_of_its_steps_is_watched_all_the_same(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    silent: Any = Silent()
    made = Pipeline(engine(weights, "sd").entry, load=lambda _: silent)
    seen: list[float] = []

    def stop(fraction: float) -> None:
        seen.append(fraction)
        if fraction > 0.5:
            progress.cancel()

    progress = Progress(stop)
    with pytest.raises(CanceledError):
        render(made, progress=progress, num_inference_steps=150)

    # The thread of the library is free again, though that pipeline never ends by itself.
    assert render(made).width == 64
    assert vars(silent.scheduler) == {}
