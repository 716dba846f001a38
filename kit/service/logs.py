"""How the service logs: standard-library logging, as text or as one JSON object a line.

A line that tells of an event passes its facts as one mapping: the text is formatted from it and the
JSON is it. What an exception *says* is never written, for it may repeat what a caller sent; its
class and its places are.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import orjson

from kit.errors import UnavailableError

_Raised = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def configure(style: str = "text", *, verbose: bool = False, to: IO[str] | None = None) -> None:
    """Send log lines to a stream."""
    target = logging.StreamHandler(sys.stderr if to is None else to)
    target.setFormatter(STYLES[style]())
    root = logging.getLogger()
    for known in [*root.handlers]:
        root.removeHandler(known)
    root.addHandler(target)
    root.setLevel(logging.WARNING)
    logging.getLogger("kit").setLevel(logging.INFO if verbose else logging.WARNING)


#: What speaks for a service: its own parts, the engines and the server below it.
_PARTS = ("kit.engines", "kit.http", "kit.service", "kit.worker", "uvicorn")
#: Bytes of a log file at which the next service begins a new one; the one before is kept.
_MAX_BYTES = 1_000_000


def log_to_file(file: Path) -> Callable[[], None]:
    """Send log lines to a file and nowhere else; return what undoes it.

    For a service inside another program: what it says is not that program's output. In a notebook
    it would stand below whatever cell happens to run.
    """
    with suppress(OSError):
        if file.stat().st_size > _MAX_BYTES:
            file.replace(file.with_name(f"{file.name}.1"))
    file.touch(mode=0o600)
    target = _ServiceFile(file, encoding="utf-8")
    target.setFormatter(TextFormatter())
    loggers = [logging.getLogger(part) for part in _PARTS]
    for logger in loggers:
        logger.addHandler(target)
        logger.propagate = False

    def undo() -> None:
        for logger in loggers:
            logger.removeHandler(target)
            logger.propagate = not any(isinstance(each, _ServiceFile) for each in logger.handlers)
        target.close()

    return undo


class _ServiceFile(logging.FileHandler):
    """The file of one service; a program may host several, on folders of their own."""


class TextFormatter(logging.Formatter):
    """A line for people."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s.%03dZ"
    default_time_format = "%Y-%m-%dT%H:%M:%S"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatException(self, ei: _Raised) -> str:  # noqa: N802 - the library's name
        """Return an exception's class and places."""
        facts = describe_exception(ei)
        return "\n".join([f"  {facts['error']}", *(f"    at {place}" for place in facts["stack"])])


class JsonFormatter(TextFormatter):
    """A JSON object for machines: time, level, logger, event and the event's facts."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        facts = record.args
        line |= facts if isinstance(facts, Mapping) else {"message": record.getMessage()}
        if record.exc_info:
            line |= describe_exception(record.exc_info)
        return orjson.dumps(line, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def describe_exception(info: _Raised) -> dict[str, Any]:
    """Return an exception's class and the places it came through, without what it says."""
    kind, _, trace = info
    if kind and issubclass(kind, UnavailableError):
        trace = None  # something that we need is away: there is no fault to be found by its place
    places = [
        f"{frame.filename}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(trace, limit=-20)
    ]
    return {"error": kind.__qualname__ if kind else None, "stack": places}


STYLES: Mapping[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JsonFormatter}
