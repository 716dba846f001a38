"""Reasons of other machines for refusing a job: their messages, and what users may see of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

#: Keys of an error with its message, the most likely first, and the maximum depth of nesting.
_MESSAGE_KEYS = ("message", "detail", "error", "msg", "errors", "code")
_MAX_DEPTH = 5


def find_sentence(error: Any, depth: int = _MAX_DEPTH) -> str:
    """Return the message of an error at any nesting; empty without one.

    Examples
    --------
    >>> find_sentence({"error": {"message": "too long", "code": 400}})
    'too long'
    >>> find_sentence({"detail": [{"loc": ["body", "n"], "msg": "too many"}]})
    'n: too many'
    >>> find_sentence({"detail": {"error": "no such model"}})
    'no such model'
    """
    if isinstance(error, str) or depth == 0:
        return error if isinstance(error, str) else ""
    if isinstance(error, list):
        return "; ".join(filter(None, (_problem(problem, depth - 1) for problem in error)))
    if not isinstance(error, dict):
        return ""
    return next(filter(None, (find_sentence(error.get(n), depth - 1) for n in _MESSAGE_KEYS)), "")


def _problem(problem: Any, depth: int) -> str:
    if not isinstance(problem, dict) or not isinstance(problem.get("msg"), str):
        return find_sentence(problem, depth)
    location = problem.get("loc")
    parts = location if isinstance(location, list) else []
    path = ".".join(str(part) for part in parts if part not in ("body", "query", "path"))
    return f"{path}: {problem['msg']}" if path else str(problem["msg"])


#: Statuses with a reason that the user can act on: other prompt, parameters or files.
_CORRECTABLE = frozenset({400, 413, 422, 451})
#: Explanations by status or its first digit; otherwise `_REJECTION`.
_EXPLANATIONS = {
    401: ("refuses its key", "upstream_refused"),
    402: ("is out of credits", "upstream_no_credits"),
    403: ("refuses its key", "upstream_refused"),
    429: ("is too busy", "upstream_busy"),
    503: ("is too busy", "upstream_busy"),
    408: ("takes too long to answer", "upstream_busy"),
    2: ("answers with something unexpected", "upstream_malformed"),
    3: ("answers with a redirect, which is not followed", "upstream_malformed"),
    5: ("failed", "upstream_failed"),
}
_REJECTION = ("refuses this request; other settings or words may help", "upstream_rejected")
#: Statuses of missing resources, and explanations by what was requested.
_NOT_FOUND = frozenset({404, 405, 410})
_MISSING = {
    "POST": (
        "does not know the model or the path: the operator of this service has to correct it",
        "upstream_not_found",
    ),
    "GET": ("no longer knows the job", "upstream_rejected"),
    "file": ("no longer has the file", "upstream_rejected"),
}

#: Signs of text that is no message: an HTML page, a traceback, a dump, an internal failure.
_NO_MESSAGE = re.compile(
    r"<\s*[/!?a-zA-Z]|Traceback|\bFile \"|^\s*at \w|\{\s*[\"']|Exception in thread"
    r"|\bCUDA\b|out of memory|\bErrno\b",
    re.MULTILINE,
)
#: Patterns to remove with their replacements, in this order.
_REDACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?i)\b[a-z][a-z0-9+.-]*://\S+|\bdata:\S+|\bwww\.\S+|\S+@\S+\.\w+", "(address)"),
        (r"\b(?:\d{1,3}\.){3}\d{1,3}\b(?::\d+)?", "(address)"),
        (r"(?i)\[(?=[0-9a-f]*:[0-9a-f]*:)[0-9a-f:]+\](?::\d+)?", "(address)"),
        (r"(?i)\blocalhost\b(?::\d+)?|\b[\w-]+(?:\.[\w-]+)+:\d{2,5}\b", "(address)"),
        (r"(?i)\b[\w-]+(?:\.[\w-]+)*\.(?:local|internal|lan|corp|svc|cluster)\b", "(address)"),
        (r"(?<![\w/.])~?/(?:[\w.@+-]+/)*[\w.@+-]*\w|\b[A-Za-z]:\\\S+", "(path)"),
        (r"(?i)[\w.-]*(?:sig|signature|credential|secret|password|token|key)=\S+", "***"),
        (r"(?i)\b(?:api.?key|secret|password|token)\s*:\s*(?=\S*\d)\S{8,}", "***"),
        (r"(?i)\bbearer\s+\S+", "***"),
        (r"\b(?:sk|pk|rk|cs|tp|hf|gsk|r8|xai|ghp)[-_](?=[\w-]*[\dA-Z*])[\w*-]{6,}", "***"),
        (r"\b(?:AKIA|AIza)\w{8,}", "***"),
        (r"\b(?:org|proj|acct|req|user|team|key)[-_](?=[\w-]*[\dA-Z])[\w-]{6,}", "***"),
        (r"(?=\S*\d)[\w+/=*-]{24,}", "***"),
    )
)
#: Maximum length of a reason in characters.
_MAX_LENGTH = 240


def explain(
    status: int, reason: str, secrets: Iterable[str] = (), *, of: str = ""
) -> tuple[str, str]:
    """Return the explanation of a refusal, as the end of a sentence, and its code.

    The reason is included, without secrets, if it may help. `of` is what was refused: ``POST`` for
    the start of a job, ``GET`` for a started one, ``file`` for its output.

    Examples
    --------
    >>> explain(400, "the prompt has more than 1,000 characters")[0]
    'refuses this request: the prompt has more than 1,000 characters'
    >>> explain(401, "wrong key sk-0123")[0]
    'refuses its key'
    """
    if status in _NOT_FOUND and of in _MISSING:
        return _MISSING[of]
    sentence, code = _EXPLANATIONS.get(status) or _EXPLANATIONS.get(status // 100, _REJECTION)
    cleaned = clean_reason(reason, secrets) if status in _CORRECTABLE else ""
    return (f"refuses this request: {cleaned}" if cleaned else sentence), code


def clean_reason(reason: str, secrets: Iterable[str] = ()) -> str:
    """Return a reason in one line without anything private; empty if it is no message.

    Examples
    --------
    >>> clean_reason("blocked by policy, see https://a.test/x?sig=1")
    'blocked by policy, see (address)'
    >>> clean_reason("<html><body>Bad Request</body></html>")
    ''
    """
    if _NO_MESSAGE.search(reason):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in reason).split())
    for secret in filter(None, secrets):
        line = line.replace(secret, "***")
    for pattern, replacement in _REDACTIONS:
        line = pattern.sub(replacement, line)
    if len(line) > _MAX_LENGTH:
        line = f"{line[:_MAX_LENGTH].rpartition(' ')[0] or line[:_MAX_LENGTH]}..."
    return line if any(c.isalpha() for c in line) else ""
