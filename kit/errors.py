"""Every error of the kit, in one tree: all are a `KitError`, answers of the service an `ApiError`.

The service raises an `ApiError`; the client catches the same class. A class is the only place where
a wire code meets its HTTP status. The second sentence of each says what to do; `kit docs` makes a
table of them.
"""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


_KIT = Path(__file__).parent
#: Parts of the paths of what runs a cell.
_MACHINERY = frozenset({"IPython", "ipykernel"})
#: Problems of one request that are reported.
REPORTED = 20
_LONGEST_FIELD, _LONGEST_SENTENCE = 120, 1000


class KitError(Exception):
    """Base of everything the kit raises on purpose.

    Attributes
    ----------
    generation_id : str or None
        Set on every error raised after a start: the generation exists and may still finish.
    resume : callable or None
        Set beside `generation_id` by the notebook wing: waits on for that generation.
    unsettled : bool
        Whether what was asked for may have been carried out, and charged, all the same.
    """

    generation_id: str | None = None
    resume: Callable[[], Any] | None = None
    unsettled: bool = False

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows: the caller's own lines, and the sentence."""
        return own_lines(self)


def own_lines(error: BaseException) -> list[str]:
    """Return the lines of a traceback that lead into the kit, and what the error says.

    What lies inside of the kit helps nobody who has called it; ``error.__traceback__`` has it all.

    Examples
    --------
    >>> own_lines(ConfigError("which key?"))
    ['ConfigError: which key?']
    """
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(_KIT):
            break
        if not _MACHINERY.intersection(Path(frame.filename).parts):
            lines.append(f"----> {frame.lineno} {frame.line}")
    notes = getattr(error, "__notes__", [])
    said = str(error)
    name = type(error).__name__
    return [*lines, *([""] if lines else []), f"{name}: {said}" if said else name, *notes]


def show_own_lines(error: BaseException) -> None:
    """Have IPython show an error of Python, such as an interrupt, as it shows those of the kit."""
    error._render_traceback_ = lambda: own_lines(error)  # type: ignore[attr-defined]


class ConfigError(KitError):
    """A setting is missing or makes no sense; the message says which and what to do."""


@contextmanager
def require_extra(extra: str, purpose: str) -> Iterator[None]:
    """Say what to install, by a `ConfigError`, where an import misses a package.

    Examples
    --------
    >>> with require_extra("history", "the synced history"):
    ...     import pyarrow
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == "kit":
            raise
        raise ConfigError(
            f"{purpose} needs {package}: pip install 'creative-studio-kit[{extra}]'"
        ) from None


class NoAnswerError(KitError):
    """The service could not be reached, or did not finish in time."""


class GenerationFailedError(KitError):
    """A generation ended without a result; `generation` is as the service last reported it."""

    def __init__(self, message: str, generation: Any = None) -> None:
        super().__init__(message)
        self.generation = generation


class EngineError(KitError):
    """An engine could not render a job; the message, without paths or traces, is the user's.

    `code`, a word that programs can branch on, becomes `errorCode` of the generation; `detail` goes
    to the operator's log and nowhere else.
    """

    def __init__(self, message: str, *, code: str = "render_failed", detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail


class UploadError(KitError):
    """A file did not arrive as it was announced, or is not what it claims to be."""


class BudgetError(KitError):
    """A start would pass the budget that is open; nothing was sent."""


class ApiError(KitError):
    """The service answered, and its answer is an error.

    `details` are ``{field, message}`` entries of a 400, or ``{required, available}`` of a 402;
    `headers` those that the answer carries besides the usual ones, e.g. ``Retry-After``.

    Source: API document, "Errors"; contract, "Conventions".
    """

    status: ClassVar[int] = 500
    code: ClassVar[str] = ""
    by_code: ClassVar[dict[str, type[ApiError]]] = {}

    def __init_subclass__(cls, *, status: int = 0, code: str = "") -> None:
        if code:
            cls.status, cls.code = status, code
            ApiError.by_code[code] = cls

    def __init__(
        self,
        message: str,
        *,
        details: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.headers = dict(headers or {})
        self.request_id: str | None = None
        self.retry_after: float | None = None
        #: Status of the answer as it came: other services use more than have a class here.
        self.answered: int | None = None


class BadRequestError(ApiError, status=400, code="validation_error"):
    """The request breaks a rule.

    Change what `details` names: each entry has the field and what would be right.
    """

    @classmethod
    def fields(
        cls, problems: Sequence[tuple[str, str]], *, total: int | None = None
    ) -> BadRequestError:
        """Build the error from (field, sentence) pairs; the first 20 are reported, shortened.

        Where `problems` are only the first, `total` says how many there are.
        """
        reported = [
            (_cut(f, _LONGEST_FIELD), _cut(s, _LONGEST_SENTENCE)) for f, s in problems[:REPORTED]
        ]
        message = "; ".join(
            f"{field}: {sentence}" if field else sentence for field, sentence in reported
        )
        total = len(problems) if total is None else total
        if total > len(reported):
            message += f"; these are {len(reported)} of {total:,} problems"
        return cls(message, details=[{"field": f, "message": s} for f, s in reported])


class ParameterError(BadRequestError):
    """A model's prompt, parameter or medium is missing, unknown or out of its bounds.

    The client raises it before sending; the service answers it as a `validation_error`.
    """


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


class MissingApiKeyError(ApiError, status=401, code="missing_api_key"):
    """The request has no ``Authorization: Bearer`` header.

    Send a key; `kit login` saves one.
    """


class InvalidApiKeyError(ApiError, status=401, code="invalid_api_key"):
    """The key is unknown, mistyped or revoked.

    Check it against `kit keys list`, or make a new one.
    """


class ExpiredApiKeyError(ApiError, status=401, code="expired_api_key"):
    """The key is past its expiration date.

    Make a new one with `kit keys create`.
    """


class InsufficientCreditsError(ApiError, status=402, code="insufficient_credits"):
    """The balance, or what a key may still spend, is too low for the operation.

    Ask for less, have credits granted (`kit credits grant`), or wait until the key's month is
    over.
    """


class InsufficientScopeError(ApiError, status=403, code="insufficient_scope"):
    """The key lacks the scope the operation requires.

    Use a key that has the scope that the message names.
    """


class AccessDeniedError(ApiError, status=403, code="access_denied"):
    """A signed address was altered, misused or is past its time.

    Read the generation again: its answer has new addresses.
    """


class NotFoundError(ApiError, status=404, code="not_found"):
    """The resource does not exist, or belongs to another account.

    Check the id, and whose key is used.
    """


class MethodNotAllowedError(ApiError, status=405, code="method_not_allowed"):
    """The path exists, the method does not.

    Use one of those that the header ``Allow`` names.
    """


class RequestTimeoutError(ApiError, status=408, code="request_timeout"):
    """The request did not come in time; nothing was done.

    Send it again over a better connection.
    """


class ConflictError(ApiError, status=409, code="conflict"):
    """The request cannot be done in the state that the resource is in.

    Read the resource, and decide anew.
    """


class PayloadTooLargeError(ApiError, status=413, code="payload_too_large"):
    """The body is larger than the service takes.

    Send less, or upload files with a ticket.
    """


class UnsupportedMediaTypeError(ApiError, status=415, code="unsupported_media_type"):
    """The body is not of a type that the service takes.

    Send JSON as ``application/json``, and a file as the type that its ticket names.
    """


class RangeNotSatisfiableError(ApiError, status=416, code="range_not_satisfiable"):
    """The part of a file that was asked for is not in it.

    Ask within the size that ``Content-Range`` names.
    """


class IdempotencyMismatchError(ApiError, status=422, code="idempotency_mismatch"):
    """The idempotency key was used before, for another request.

    Use a new key for a new request.
    """


class RateLimitError(ApiError, status=429, code="rate_limited"):
    """Too many requests; `retry_after` says when the next one is welcome, in seconds.

    Wait as long as ``Retry-After`` says; the client does so by itself.
    """


class HeadTooLargeError(ApiError, status=431, code="head_too_large"):
    """The address and the headers of a request are larger than the service takes.

    Send fewer or shorter headers.
    """


class InternalError(ApiError, status=500, code="internal_error"):
    """The service failed unexpectedly; nothing was charged.

    Tell the operator the request id (`studio.last_response`); trying again with the same
    idempotency key is safe.
    """


class UnavailableError(ApiError, status=503, code="unavailable"):
    """The service is up and cannot work just now.

    Try again after ``Retry-After`` with the same idempotency key; the client does so by itself.
    """
