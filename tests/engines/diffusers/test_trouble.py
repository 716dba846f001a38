"""Jobs on pipelines that are canceled, refused, or fail."""

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

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about each other


def test_a_cancel_between_steps_ends_the_job_and_keeps_the_model(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    model = engine(weights, "wan")
    before = render(model)
    progress = Progress(lambda fraction: progress.cancel() if fraction > 0.05 else None)

    with pytest.raises(CanceledError):
        render(model, progress=progress, num_inference_steps=150)
    assert render(model).path.read_bytes() == before.path.read_bytes()


def test_a_cancel_ends_a_job_while_the_model_is_busy(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    busy, release = threading.Event(), threading.Event()

    def slow(entry: Any) -> Any:
        busy.set()
        release.wait(20)
        raise EngineError("never reported")

    model = Pipeline(engine(weights, "wan").entry, load=slow)
    progress = Progress(lambda _: progress.cancel() if busy.is_set() else None)

    with pytest.raises(CanceledError):
        render(model, progress=progress)
    release.set()


def test_a_pipelines_refusal_is_reported(weights: Weights, render: Callable[..., Asset]) -> None:
    model = engine(weights, "sd", always={"callback_on_step_end_tensor_inputs": ["no_such"]})

    with pytest.raises(EngineError, match="refuses the job") as caught:
        render(model)
    assert caught.value.code == "bad_parameters"


class Large:
    """An object in a frame of the library that fails."""


@pytest.mark.parametrize(
    ("trouble", "expected"),
    [
        (RuntimeError("CUDA out of memory"), EngineError),
        (RuntimeError("a kernel failed"), EngineError),
        (CanceledError("canceled"), CanceledError),
    ],
)
def test_an_error_does_not_keep_the_tensors_of_a_failed_pipeline(
    weights: Weights,
    render: Callable[..., Asset],
    monkeypatch: pytest.MonkeyPatch,
    trouble: Exception,
    expected: type[Exception],
) -> None:
    model, held = engine(weights, "sd"), []
    render(model)

    def fail(*_: Any, **__: Any) -> None:
        latents = Large()
        held.append(weakref.ref(latents))
        raise trouble

    monkeypatch.setattr(pipelines.loaded[0].pipeline("text").vae, "decode", fail)
    with pytest.raises(expected) as caught:
        render(model)

    # The error must not keep gigabytes of tensors alive.
    assert caught.value
    assert [one() for one in held] == [None]


def test_a_broken_gpu_raises_spent_error(
    weights: Weights, render: Callable[..., Asset], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = engine(weights, "sd")
    before = render(model)

    def raise_cuda_error() -> None:
        raise RuntimeError("CUDA error: device-side assert triggered\nand more of it")

    monkeypatch.setattr("torch.cuda.is_initialized", lambda: True)
    monkeypatch.setattr("torch.cuda.synchronize", raise_cuda_error)
    with pytest.raises(SpentError, match=r"assert triggered$"):
        render(model)
    monkeypatch.undo()
    assert render(model).path.read_bytes() == before.path.read_bytes()


class Scheduler:
    timesteps = range(4)

    def step(self) -> None: ...


class PipelineWithoutCallback:
    """A pipeline without a callback after a step, which never ends if it has many steps."""

    def __init__(self) -> None:
        self.scheduler = Scheduler()

    def pipeline(self, _: str) -> "PipelineWithoutCallback":
        return self

    def __call__(self, prompt: str, num_inference_steps: int = 4) -> Any:
        while num_inference_steps:
            self.scheduler.step()
            num_inference_steps -= num_inference_steps < 150
        return SimpleNamespace(images=np.full((1, 64, 64, 3), 0.5))


def test_a_pipeline_without_a_callback_reports_progress_and_can_be_canceled(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    silent: Any = PipelineWithoutCallback()
    model = Pipeline(engine(weights, "sd").entry, load=lambda _: silent)
    seen: list[float] = []

    def stop(fraction: float) -> None:
        seen.append(fraction)
        if fraction > 0.5:
            progress.cancel()

    progress = Progress(stop)
    with pytest.raises(CanceledError):
        render(model, progress=progress, num_inference_steps=150)

    # The thread of the library is free again, although that pipeline never ends by itself.
    assert render(model).width == 64
    assert vars(silent.scheduler) == {}
