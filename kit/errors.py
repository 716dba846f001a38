"""All exceptions of the kit: they derive from `KitError`, error responses from `ApiError`.

The service raises an `ApiError`, and the client raises the same class. Each class defines its error
code and HTTP status; its docstring says what to do, which `kit docs` lists in a table.
"""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

E = TypeVar("E", bound=BaseException)
_KIT_FOLDER = Path(__file__).parent
#: Folders of the packages that run a cell; tracebacks leave out their lines.
_SHELL_PACKAGES = frozenset({"IPython", "ipykernel"})
#: Maximum of problems that one error reports.
MAX_SHOWN = 20
_MAX_FIELD, _MAX_MESSAGE = 120, 1000


class KitError(Exception):
    """Base class of all exceptions of the kit.

    Attributes
    ----------
    generation_id : str or None
        Set on every error after a start: the generation exists and may still finish.
    resume : callable or None
        Set by a studio together with `generation_id`: continues to wait for that generation.
    unsettled : bool
        Whether the operation may have been executed and charged despite the error.
    """

    generation_id: str | None = None
    resume: Callable[[], Any] | None = None
    unsettled: bool = False

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: the caller's own, and the message."""
        return own_lines(self)


def own_lines(error: BaseException) -> list[str]:
    """Return the caller's lines of a traceback, and the error message.

    Lines inside the kit are left out; ``error.__traceback__`` has all of them.

    Examples
    --------
    >>> own_lines(ConfigError("which key?"))
    ['ConfigError: which key?']
    """
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(_KIT_FOLDER):
            break
        if not _SHELL_PACKAGES.intersection(Path(frame.filename).parts):
            lines.append(f"----> {frame.lineno} {frame.line}")
    notes = getattr(error, "__notes__", [])
    message = str(error)
    name = type(error).__name__
    return [*lines, *([""] if lines else []), f"{name}: {message}" if message else name, *notes]


def show_own_lines(error: E) -> E:
    """Make IPython show a Python error, such as an interrupt, in the same short form; return it."""
    error._render_traceback_ = lambda: own_lines(error)  # type: ignore[attr-defined]
    return error


class ConfigError(KitError):
    """A setting or an argument is missing or invalid; the message says which and what to do."""


@contextmanager
def require_extra(extra: str, purpose: str) -> Iterator[None]:
    """Raise a `ConfigError` that says what to install if an import fails for a missing package.

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
    """A generation failed or was canceled; `generation` has its last reported state."""

    def __init__(self, message: str, generation: Any = None) -> None:
        super().__init__(message)
        self.generation = generation


class EngineError(KitError):
    """An engine could not render a job; users see the message, without paths or stack traces.

    `code`, a machine-readable word, becomes `errorCode` of the generation; `detail` is written only
    to the operator's log.
    """

    def __init__(self, message: str, *, code: str = "render_failed", detail: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.detail = detail


class UploadError(KitError):
    """An uploaded file differs from its ticket, or its content from its declared type."""


class BudgetError(KitError):
    """A start would exceed an open budget; nothing was sent."""


class ApiError(KitError):
    """The service responded with an error.

    `details` is a list of ``{field, message}`` for 400 and ``{required, available}`` for 402;
    `headers` are additional headers of the response, such as ``Retry-After``.

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
        #: Status of the actual response: other services use statuses that have no class here.
        self.response_status: int | None = None


class BadRequestError(ApiError, status=400, code="validation_error"):
    """The request is invalid.

    Correct the fields in `details`: each entry has a field and a message that says what is valid.
    """

    @classmethod
    def fields(
        cls, problems: Sequence[tuple[str, str]], *, total: int | None = None
    ) -> BadRequestError:
        """Build the error from (field, message) pairs; the first 20 are reported, shortened.

        If `problems` has only the first ones, `total` is the number of all.
        """
        reported = [(_clip(f, _MAX_FIELD), _clip(s, _MAX_MESSAGE)) for f, s in problems[:MAX_SHOWN]]
        message = "; ".join(
            f"{field}: {sentence}" if field else sentence for field, sentence in reported
        )
        total = len(problems) if total is None else total
        if total > len(reported):
            message += f"; these are {len(reported)} of {total:,} problems"
        return cls(message, details=[{"field": f, "message": s} for f, s in reported])


class ParameterError(BadRequestError):
    """A prompt, parameter or input file is missing, unknown or out of the model's bounds.

    The client raises it before sending; the service responds with `validation_error`.
    """


def _clip(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


class MissingApiKeyError(ApiError, status=401, code="missing_api_key"):
    """The request has no ``Authorization: Bearer`` header.

    Send a key; `kit login` saves one.
    """


class InvalidApiKeyError(ApiError, status=401, code="invalid_api_key"):
    """The key is unknown, mistyped or revoked.

    Compare it with `kit keys list`, or create a new one.
    """


class ExpiredApiKeyError(ApiError, status=401, code="expired_api_key"):
    """The key has expired.

    Create a new one with `kit keys create`.
    """


class InsufficientCreditsError(ApiError, status=402, code="insufficient_credits"):
    """The balance, or the rest of the key's monthly cap, is too low for the operation.

    Request less, grant credits (`kit credits grant`), or wait for the next month if the key's cap
    is reached.
    """


class InsufficientScopeError(ApiError, status=403, code="insufficient_scope"):
    """The key lacks the scope the operation requires.

    Use a key with the scope named in the message.
    """


class AccessDeniedError(ApiError, status=403, code="access_denied"):
    """A signed address was altered, misused or has expired.

    Fetch the generation again: the response has new addresses.
    """


class NotFoundError(ApiError, status=404, code="not_found"):
    """The resource does not exist, or belongs to another account.

    Check the id, and that the key belongs to the right account.
    """


class MethodNotAllowedError(ApiError, status=405, code="method_not_allowed"):
    """The path exists, but not for this method.

    Use a method listed in the header ``Allow``.
    """


class RequestTimeoutError(ApiError, status=408, code="request_timeout"):
    """The request did not arrive completely within the time limit; nothing was done.

    Send it again over a better connection.
    """


class ConflictError(ApiError, status=409, code="conflict"):
    """The current state of the resource does not allow the request.

    Fetch the resource and check its state before you try again.
    """


class PayloadTooLargeError(ApiError, status=413, code="payload_too_large"):
    """The body is larger than the service accepts.

    Send less, or upload files with a ticket.
    """


class UnsupportedMediaTypeError(ApiError, status=415, code="unsupported_media_type"):
    """The service does not accept the content type of the body.

    Send JSON as ``application/json``, and a file with the content type of its ticket.
    """


class RangeNotSatisfiableError(ApiError, status=416, code="range_not_satisfiable"):
    """The requested range is outside the file.

    Request a range within the size given in ``Content-Range``.
    """


class IdempotencyMismatchError(ApiError, status=422, code="idempotency_mismatch"):
    """The idempotency key was already used for a different request.

    Use a new key for a new request.
    """


class RateLimitError(ApiError, status=429, code="rate_limited"):
    """Too many requests; `retry_after` is the number of seconds to wait before the next one.

    Wait for the time given in ``Retry-After``; the client does so automatically.
    """


class HeadTooLargeError(ApiError, status=431, code="head_too_large"):
    """The request line and the headers are larger than the service accepts.

    Send a shorter address, and fewer or shorter headers.
    """


class InternalError(ApiError, status=500, code="internal_error"):
    """The service failed unexpectedly; nothing was charged.

    Report the request id (`studio.last_response`) to the operator; a retry with the same
    idempotency key is safe.
    """


class UnavailableError(ApiError, status=503, code="unavailable"):
    """The service is running but temporarily unavailable.

    Retry after ``Retry-After`` with the same idempotency key; the client does so automatically.
    """
