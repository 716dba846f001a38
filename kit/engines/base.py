"""What an engine is: a definition that can be read without loading anything heavy, and a `render`.

An engine knows nothing of accounts, credits or databases: a `Job` goes in, an `Asset` comes out.
It holds no state between jobs that changes a result and reads no clock: the same job gives the same
bytes on one machine. Modules that define engines import numpy, OpenCV and codecs inside `render`,
so that the web process can list models without them.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from kit import pricing
from kit.errors import ConfigError, KitError
from kit.parameters import Problem, suggest
from kit.wire import CATEGORIES, AssetType, Model, Parameter, Rule

T = TypeVar("T")

__all__ = ["Asset", "CanceledError", "Definition", "Engine", "Job", "Order"]
__all__ += ["Problem", "Progress", "SpentError", "model_of", "seed_parameter"]


class CanceledError(KitError):
    """The job is not wanted any more; raised out of `Progress`."""


class SpentError(KitError):
    """Nothing can be rendered in this process any more; another one may render the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What a model is called, what it takes and what it costs.

    Source: API document, "Model"; contract, "Models".
    """

    id: str  # lower case with dashes, e.g. ``"poster"``
    title: str
    asset_type: AssetType
    category: str  # one of `kit.wire.CATEGORIES` of the asset type
    description: str  # what the model can and cannot do, in one or two sentences
    pricing: Rule  # the service refuses a model without a valid one
    #: Inputs that are no media, in the order in which a form shows them.
    settings: Sequence[Parameter] = ()
    #: A model takes a picture by ``[Parameter(name="image", type="image", media=True,
    #: required=True)]``; ``video`` and ``audio`` likewise, and ``max_items`` for several files.
    media: Sequence[Parameter] = ()
    supports_prompt: bool = True
    prompt_required: bool = True
    #: When it will be gone, and which model is to be used instead: clients warn of it.
    retires_at: datetime | None = None
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to render: checked parameters with every default filled in, and a folder to write to."""

    prompt: str
    parameters: Mapping[str, Any]  # settings by name
    folder: Path  # private and empty; what is left there and not in the asset is thrown away
    seed: int = 0  # where all randomness comes from, 0 to 2**32 - 1
    #: Input files by parameter name, a list even of one file: `job.media["image"][0]`.
    media: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    #: As of `Order`: how long the files play that the price is for. What decodes media for the
    #: engines of the kit refuses more; an engine with a decoder of its own has to.
    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is known of a job before it is paid for: everything but what is in its files.

    Each setting was checked by itself, and every default is filled in. `media` is how many input
    files there are, and `seconds` how long those with a length are, by parameter name; names
    without one are not in it.
    """

    prompt: str
    parameters: Mapping[str, Any]
    media: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A rendered file and the facts about it."""

    path: Path  # inside the job's folder; one that lies elsewhere is refused
    content_type: (
        str  # of an image or a video, as inputs may have them; the content has to be of it
    )
    width: int
    height: int
    duration_seconds: float | None = None
    #: A JPEG of at most 512 pixels a side, also inside the job's folder; left out, one is made, but
    #: not of a small picture.
    thumbnail: Path | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)  # as JSON has them; 64 KB at most


class Progress:
    """How far a job is, and whether it is still wanted: the one object an engine talks to.

    It calls `on_report` with the fraction done, 0 to 1, never smaller than before.

    Examples
    --------
    >>> seen = []
    >>> progress = Progress(seen.append)
    >>> for _ in progress.over(range(4)): pass
    >>> seen[-1]
    1.0
    """

    def __init__(self, on_report: Callable[[float], None] = lambda _: None) -> None:
        self._on_report = on_report
        self._canceled = threading.Event()
        self._done = 0.0
        self._start = 0.0
        self._span = 1.0

    def report(self, fraction: float) -> None:
        """Tell how much is done, 0 to 1; raises `CanceledError`, which is to pass through."""
        self.check()
        self._done = max(self._done, self._start + self._span * min(max(fraction, 0.0), 1.0))
        self._on_report(self._done)

    def over(self, items: Sequence[T]) -> Iterator[T]:
        """Yield the items, reporting after each."""
        for number, item in enumerate(items, start=1):
            yield item
            self.report(number / len(items))

    def check(self) -> None:
        """Raise `CanceledError` if the job is not wanted any more."""
        if self.is_canceled:
            raise CanceledError("canceled")

    @property
    def is_canceled(self) -> bool:
        """Whether the job is not wanted any more."""
        return self._canceled.is_set()

    def cancel(self) -> None:
        """Make the next call of `report` or `check` raise."""
        self._canceled.set()

    def part(self, start: float, end: float) -> Progress:
        """Return a progress whose 0 to 1 is a stretch of this one's."""
        part = copy(self)
        part._start = self._start + self._span * start
        part._span = self._span * (end - start)
        return part


class Engine(ABC):
    """One model's renderer, an instance or a class that an entry point ``kit.engines`` names."""

    definition: Definition
    #: Whether it keeps so much in memory, such as the weights of a neural model, that its jobs are
    #: to take turns with those of all such engines, in one process that is kept for them. Neither
    #: memory nor the size of files nor processor time is bounded there; the wall clock is.
    resident: bool = False
    #: Whether what it makes comes of weights that were trained on media; its files say so.
    trained: bool = False
    #: Names of the environment variables that it reads, such as that of a key. A render process has
    #: those of the system, of locale, threads, GPUs, caches and proxies; these are added for the
    #: engine's own jobs.
    environment: Sequence[str] = ()

    def check(self, order: Order) -> Iterable[Problem]:
        """Yield what makes an order impossible that no rule of a single parameter forbids.

        That is the name of the parameter or the medium, or ``prompt``, and a sentence without it,
        e.g. ``("mask", "is required to erase")``. Asked before anything is charged, in a thread of
        the process that answers requests: it loads nothing, opens no file and takes no time. While
        one takes longer than a second, further orders are not checked.
        """
        return ()

    @abstractmethod
    def render(self, job: Job, progress: Progress) -> Asset:
        """Render a job.

        The process renders jobs of other models as well. After an error that is none of those below
        it is ended, and where it had rendered before, the job is tried once more in a new one. Only
        that of `resident` engines goes on.

        Raises
        ------
        EngineError
            The job cannot be rendered; the message is shown to the account that ordered it.
        CanceledError
            Raised by `progress`.
        SpentError
            The process is of no more use; the job is tried again in another one.
        """


def seed_parameter() -> Parameter:
    """Return the setting of every seeded model; without a value each start draws its own."""
    return Parameter(
        name="seed",
        type="integer",
        minimum=0,
        maximum=2**32 - 1,
        description="The same seed gives the same result; leave it out for a new one each time",
    )


def model_of(definition: Definition) -> Model:
    """Return the model that a definition describes, with the figures of its price rule.

    Raises ConfigError for a category that does not exist, or a price rule that cannot price every
    request. Source: contract, "Models".
    """
    of, known = f"the model {definition.id!r}", CATEGORIES.get(definition.asset_type)
    if known is None:
        kinds = ", ".join(CATEGORIES)
        raise ConfigError(f"{of} has the asset type {definition.asset_type!r}, not one of {kinds}")
    if definition.category not in known:
        hint = suggest(definition.category, known)
        raise ConfigError(f"{of}: there is no category {definition.category!r}{hint}")
    facts = {name.name: getattr(definition, name.name) for name in fields(Definition)}
    media, settings = list(facts.pop("media")), list(facts.pop("settings"))
    several = any((parameter.max_items or 1) > 1 for parameter in media)
    model = Model(
        **facts,
        media_parameters=media,
        setting_parameters=settings,
        supports_multi_reference_media=several,
    )
    try:
        pricing.check_rule(model)
        least, defaults = pricing.least(model), pricing.at_defaults(model)
    except ArithmeticError:
        sentence = f"the price rule of {of} comes to no number that can be charged"
        raise ConfigError(sentence) from None
    figures = {"credits_at_defaults": defaults, "estimated_credits": defaults}
    return model.model_copy(update={"credits_from": least, **figures})
