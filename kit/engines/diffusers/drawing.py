"""A job on a pipeline: the run in a thread of its own, watched from the job's thread.

All work of the library happens in one thread. The job's own thread only watches it, so that a
cancel is heard while weights load or a long step computes; what was canceled ends with its step.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.diffusers import inputs, outputs
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.pipelines import give_back, let_go, loaded, short_of_memory
from kit.engines.diffusers.shape import Shape
from kit.errors import EngineError

_log = logging.getLogger(__name__)
_LOOK_EVERY = 0.2
#: Parts of the whole: until the weights are there, and until the last step.
_LOADED, _STEPPED = 0.05, 0.9

_lane = ThreadPoolExecutor(1, thread_name_prefix="pipeline")


@dataclass(slots=True)
class _Run:
    """What the two threads know of each other."""

    fraction: float = 0.0
    steps: int = 0
    canceled: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        if self.canceled.is_set():
            raise CanceledError("canceled")

    def step(self, pipeline: Any, number: int, _: Any, values: dict[str, Any]) -> dict[str, Any]:
        """Take note of a step; the pipeline calls it and goes on with the values returned."""
        self._note(number, getattr(pipeline, "num_timesteps", 0))
        return values

    @contextmanager
    def watching(self, pipeline: Any, names: frozenset[str]) -> Iterator[None]:
        """Take note of the steps of a pipeline that calls nobody after them: by its scheduler's."""
        scheduler: Any = getattr(pipeline, "scheduler", None)
        if "callback_on_step_end" in names or not hasattr(scheduler, "step"):
            yield
            return
        plain, self.steps = scheduler.step, 0

        def step(*values: Any, **named: Any) -> Any:
            made = plain(*values, **named)
            self._note(self.steps, len(getattr(scheduler, "timesteps", ())))
            self.steps += 1
            return made

        scheduler.step = step
        try:
            yield
        finally:
            del scheduler.step

    def _note(self, number: int, steps: int | None) -> None:
        self.check()
        share = min(1.0, (number + 1) / max(1, steps or number + 1))
        self.fraction = max(self.fraction, _LOADED + (_STEPPED - _LOADED) * share)


def draw(entry: PipelineEntry, shape: Shape, job: Job, progress: Progress) -> Asset:
    """Render a job with a pipeline.

    Raises
    ------
    EngineError
        The pipeline cannot be loaded, refuses the job, or ran out of memory.
    CanceledError
        Within a fraction of a second, whatever the pipeline does just now.
    SpentError
        The GPU refuses all work of this process.
    """
    run = _Run()
    made = _watched(_lane.submit(_made, entry, shape, job, run), run, progress)
    return outputs.written(made, shape, job, progress.part(_STEPPED, 1.0))


def _watched(future: Future[Any], run: _Run, progress: Progress) -> Any:
    try:
        while not wait([future], timeout=_LOOK_EVERY).done:
            progress.report(run.fraction)
        progress.check()
    except CanceledError:
        run.canceled.set()
        future.cancel()
        raise
    return future.result()


def _made(entry: PipelineEntry, shape: Shape, job: Job, run: _Run) -> Any:
    """Return what the pipeline returns."""
    task = inputs.task(shape, job)
    pipeline = loaded(entry).pipeline(task)
    run.fraction = _LOADED
    run.check()
    import torch

    # Not everything in every pipeline draws from the generator that it is given.
    torch.manual_seed(job.seed)
    values = inputs.arguments(entry, shape, job, pipeline, run.step)
    try:
        with run.watching(pipeline, frozenset(values)):
            return pipeline(**values)
    except ValueError as error:
        sentence = f"the pipeline refuses the job: {_first_line(error)}"
        raise EngineError(sentence, code="bad_parameters") from None
    except RuntimeError as error:
        raise _failure(entry, error) from error
    except CanceledError as error:
        let_go(error)
        raise
    finally:
        give_back()


def _failure(entry: PipelineEntry, error: RuntimeError) -> EngineError:
    _log.warning("the model %r failed: %s", entry.id, _first_line(error))
    let_go(error)
    if short_of_memory(error):
        sentence = "the model needs more memory than there is; ask for something smaller"
        return EngineError(sentence, code="out_of_memory")
    return EngineError(f"the model failed ({type(error).__name__})", code="engine_failed")


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__
