"""The interface of engines: a `Definition` that loads no heavy packages, and `Engine.render`.

An engine knows nothing of accounts, credits or databases: it takes a `Job` and returns an `Asset`.
It reads no clock and keeps no state that changes a result: on one machine, the same job gives the
same bytes. Modules that define engines import numpy, OpenCV and codecs inside `render`, so that the
web process can list models without them.
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
    """The job was canceled; raised by `Progress`."""


class SpentError(KitError):
    """The process can no longer render; the job is tried again in another process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A model's name, inputs and price.

    Source: API document, "Model"; contract, "Models".
    """

    id: str  # lower case with dashes, e.g. ``"poster"``
    title: str
    asset_type: AssetType
    category: str  # one of `kit.wire.CATEGORIES` of the asset type
    description: str  # what the model can and cannot do, in one or two sentences
    pricing: Rule  # required: the service refuses a model without a valid rule
    #: Inputs other than files, in the order of the form.
    settings: Sequence[Parameter] = ()
    #: Input files, such as ``[Parameter(name="image", type="image", media=True, required=True)]``;
    #: ``video`` and ``audio`` likewise. ``max_items`` allows several files.
    media: Sequence[Parameter] = ()
    supports_prompt: bool = True
    prompt_required: bool = True  # if it supports one
    #: When the model is removed, and the model to use instead; clients warn about it.
    retires_at: datetime | None = None
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to render: validated parameters including all defaults, and a folder to write to."""

    prompt: str
    parameters: Mapping[str, Any]  # settings by name; without a value or default, they are absent
    folder: Path  # private and empty; files that are not in the asset are deleted afterwards
    seed: int = 0  # 0 to 2**32 - 1, for all random numbers
    #: Input files by parameter name, always lists: `job.media["image"][0]`.
    media: Mapping[str, Sequence[Path]] = field(default_factory=dict)
    #: As in `Order`: the lengths of the files on which the price is based. The kit's decoders
    #: refuse longer files; an engine with its own decoder has to do so too.
    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is known of a job before it is charged: everything except the content of its files.

    Each setting is validated on its own, and defaults are filled in. By parameter name, `media` has
    the number of input files, and `seconds` the lengths of audio and video files; parameters
    without files are left out.
    """

    prompt: str
    parameters: Mapping[str, Any]
    media: Mapping[str, int] = field(default_factory=dict)
    seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A rendered file with its type, size and metadata."""

    path: Path  # has to be inside the job's folder
    content_type: str  # a type of image or video that inputs may have; the content has to match it
    width: int
    height: int
    duration_seconds: float | None = None
    #: A JPEG of at most 512 pixels a side, in the job's folder; by default the service makes one,
    #: except of small pictures.
    thumbnail: Path | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)  # JSON values; at most 64 KB


class Progress:
    """Reports the progress of a job, and tells the engine whether it was canceled.

    It calls `on_report` with the fraction done, 0 to 1, which never decreases.

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
        """Report the fraction done, 0 to 1; raises `CanceledError`, which must not be caught."""
        self.check()
        self._done = max(self._done, self._start + self._span * min(max(fraction, 0.0), 1.0))
        self._on_report(self._done)

    def over(self, items: Sequence[T]) -> Iterator[T]:
        """Yield the items and report progress after each."""
        for number, item in enumerate(items, start=1):
            yield item
            self.report(number / len(items))

    def check(self) -> None:
        """Raise `CanceledError` if the job was canceled."""
        if self.is_canceled:
            raise CanceledError("canceled")

    @property
    def is_canceled(self) -> bool:
        """Whether the job was canceled."""
        return self._canceled.is_set()

    def cancel(self) -> None:
        """Cancel the job: the next call of `report` or `check` raises `CanceledError`."""
        self._canceled.set()

    def part(self, start: float, end: float) -> Progress:
        """Return a progress whose range 0 to 1 is `start` to `end` of this one."""
        part = copy(self)
        part._start = self._start + self._span * start
        part._span = self._span * (end - start)
        return part


class Engine(ABC):
    """The renderer of one model; an entry point ``kit.engines`` names the class or an instance."""

    definition: Definition
    #: Whether it keeps much in memory, such as the weights of a neural model. Jobs of all resident
    #: engines take turns in one process that stays alive; only their wall-clock time is limited,
    #: not memory, file size or processor time.
    resident: bool = False
    #: Whether its results come from weights trained on media; the metadata of its files says so.
    trained: bool = False
    #: Names of the environment variables that it reads, such as that of a key. By default a render
    #: process gets only those of the system, locale, threads, GPUs, caches and proxies; these are
    #: added for the jobs of this engine.
    environment: Sequence[str] = ()

    def check(self, order: Order) -> Iterable[Problem]:
        """Yield problems of an order that concern several parameters.

        Each is the name of a parameter, or ``prompt``, and a message without the name, such as
        ``("mask", "is required to erase")``. Called before anything is charged, on a thread of the
        web process, it must be fast, load nothing and open no file. While one call takes more than
        a second, further orders are not checked.
        """
        return ()

    @abstractmethod
    def render(self, job: Job, progress: Progress) -> Asset:
        """Render a job.

        The process also renders jobs of other models. After any error not listed below it is ended,
        and if it had rendered before, the job is tried once more in a new one. The process of
        `resident` engines continues. What it prints is in the log of the service.

        Raises
        ------
        EngineError
            The job cannot be rendered; the message is shown to the user.
        CanceledError
            Raised by `progress`.
        SpentError
            The process can no longer render; the job is tried again in another one.
        """


def seed_parameter() -> Parameter:
    """Return the parameter of models that take a seed; by default each start gets a new one."""
    return Parameter(
        name="seed",
        type="integer",
        minimum=0,
        maximum=2**32 - 1,
        description="The same seed gives the same result; by default each generation has a new one",
    )


def model_of(definition: Definition) -> Model:
    """Return the model that a definition describes, with the estimates of its price rule.

    Raises ConfigError for an unknown category, or a price rule that cannot price every request.
    Source: contract, "Models".
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
        least, defaults = pricing.lowest_price(model), pricing.default_price(model)
    except ArithmeticError:
        sentence = f"the price rule of {of} does not result in an amount that can be charged"
        raise ConfigError(sentence) from None
    figures = {"credits_at_defaults": defaults, "estimated_credits": defaults}
    return model.model_copy(update={"credits_from": least, **figures})
