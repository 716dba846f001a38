"""Logging of the service with the standard library, as text or as one JSON object per line.

Events are logged with their facts as one mapping: the text is formatted from it, the JSON contains
it. Messages of exceptions are never logged, because they may contain input of a caller; their
classes and stack frames are.
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

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def configure(style: str = "text", *, verbose: bool = False, to: IO[str] | None = None) -> None:
    """Write log lines to a stream."""
    target = logging.StreamHandler(sys.stderr if to is None else to)
    target.setFormatter(STYLES[style]())
    logging.basicConfig(level=logging.WARNING, handlers=[target], force=True)
    logging.getLogger("kit").setLevel(logging.INFO if verbose else logging.WARNING)


#: Loggers of a service: its own parts and the engines.
_LOGGERS = ("kit.engines", "kit.http", "kit.service", "kit.store", "kit.worker")
#: Size in bytes at which the next start begins a new log file; the previous one is kept.
_MAX_BYTES = 1_000_000


def log_to_file(file: Path, thread: str = "") -> Callable[[], None]:
    """Write log lines to a file only; return a function that undoes it.

    For a service inside another program, such as a notebook, whose output would otherwise contain
    the log below the cell that happens to run. The program's own server is in another `thread`.
    """
    with suppress(OSError):
        if file.stat().st_size > _MAX_BYTES:
            file.replace(file.with_name(f"{file.name}.1"))
    file.touch(mode=0o600)
    target = _ServiceFile(file, encoding="utf-8")
    target.setFormatter(TextFormatter())
    loggers = [logging.getLogger(part) for part in _LOGGERS]
    server_library = logging.getLogger("uvicorn.error")

    def keep_of_others(record: logging.LogRecord) -> bool:
        if (own := record.threadName == thread) and record.levelno >= logging.WARNING:
            target.handle(record)
        return not own

    server_library.addFilter(keep_of_others)
    for logger in loggers:
        logger.addHandler(target)
        logger.propagate = False

    def undo() -> None:
        server_library.removeFilter(keep_of_others)
        for logger in loggers:
            logger.removeHandler(target)
            logger.propagate = not any(isinstance(each, _ServiceFile) for each in logger.handlers)
        with suppress(OSError):
            target.close()

    return undo


class _ServiceFile(logging.FileHandler):
    """The log file of one service; a program may host several, with separate folders."""

    def handleError(self, _: logging.LogRecord) -> None:  # noqa: N802 - of the base class
        """Drop the line: the disk may be full, and a traceback would be in the user's output."""


class TextFormatter(logging.Formatter):
    """A text line for humans."""

    converter = staticmethod(time.gmtime)
    default_msec_format = "%s.%03dZ"
    default_time_format = "%Y-%m-%dT%H:%M:%S"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802 - the library's name
        """Return the class and stack frames of an exception."""
        facts = describe_exception(ei)
        return "\n".join([f"  {facts['error']}", *(f"    at {place}" for place in facts["stack"])])


class JsonFormatter(TextFormatter):
    """A JSON object for programs: time, level, logger, event and the facts of the event."""

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


def describe_exception(info: _ExcInfo) -> dict[str, Any]:
    """Return the class and stack frames of an exception, without its message."""
    kind, _, trace = info
    if kind and issubclass(kind, UnavailableError):
        trace = None  # another system is unavailable: the stack would not help
    places = [
        f"{frame.filename}:{frame.lineno} in {frame.name}"
        for frame in traceback.extract_tb(trace, limit=-20)
    ]
    return {"error": kind.__qualname__ if kind else None, "stack": places}


STYLES: Mapping[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JsonFormatter}
