"""What another machine's refusal means, and how much of its reason whoever ordered may read.

A reason such as "the prompt is too long" helps only those who can change the prompt. But it is free
text of somebody else, so it is passed on in one short line, without whatever could be an address, a
path, a key or an id; a page or a trace is not passed on at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Answers with a reason that whoever ordered can do something about: other words, settings, files.
CURABLE = frozenset({400, 413, 422, 451})
#: Longest reason that is passed on, in characters.
_MOST = 240

#: What an answer means, by its status or the first digit of it; the rest is `_REJECTED`.
_MEANINGS = {
    401: ("refuses the key that it is asked with", "upstream_refused"),
    402: ("is out of credits", "upstream_no_credits"),
    403: ("refuses the key that it is asked with", "upstream_refused"),
    429: ("is too busy just now", "upstream_busy"),
    503: ("is too busy just now", "upstream_busy"),
    408: ("takes too long to answer", "upstream_busy"),
    2: ("answers with something else than was asked for", "upstream_odd"),
    3: ("answers with a redirect, which is not followed", "upstream_odd"),
    5: ("failed", "upstream_failed"),
}
#: What it means that something is not there, by what was asked for.
_MISSING = {
    "POST": (
        "does not find the model, or the path, that it is asked for: whoever runs this service has "
        "to correct that",
        "upstream_not_found",
    ),
    "GET": ("knows nothing of the job any more", "upstream_rejected"),
    "file": ("does not have the file that it made", "upstream_rejected"),
}
_NOT_THERE = frozenset({404, 405, 410})
_REJECTED = ("refuses this request; other settings or words may do", "upstream_rejected")

#: A text with one of these says nothing of the request: a page, a trace, a dump, a broken machine.
_NO_SENTENCE = re.compile(
    r"<\s*[/!?a-zA-Z]|Traceback|\bFile \"|^\s*at \w|\{\s*[\"']|Exception in thread"
    r"|\bCUDA\b|out of memory|\bErrno\b",
    re.MULTILINE,
)
#: What is taken out, and what stands in its place; in this order.
_TAKEN_OUT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), instead)
    for pattern, instead in (
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


def meaning(status: int) -> tuple[str, str]:
    """Return what an answer means, to end a sentence with, and the code for it."""
    kind = status if status in _MEANINGS else status // 100
    return _MEANINGS.get(kind, _REJECTED)


def refused(
    status: int, reason: str, secrets: Iterable[str] = (), *, of: str = ""
) -> tuple[str, str]:
    """Return what a refusal means for whoever ordered, with its reason where that may help.

    Parameters
    ----------
    reason : str
        What the other machine says.
    secrets : iterable of str
        What must not be in it.
    of : str
        What was refused, where it may be that it is not there: ``POST`` for a job that was to be
        begun, ``GET`` for one that was begun before, ``file`` for what came of it.

    Examples
    --------
    >>> refused(400, "the prompt has more than 1,000 characters")[0]
    'refuses this request: the prompt has more than 1,000 characters'
    >>> refused(401, "wrong key sk-0123")[0]
    'refuses the key that it is asked with'
    """
    if status in _NOT_THERE and of in _MISSING:
        return _MISSING[of]
    sentence, code = meaning(status)
    why = public(reason, secrets) if status in CURABLE else ""
    return (f"refuses this request: {why}" if why else sentence), code


def public(reason: str, secrets: Iterable[str] = ()) -> str:
    """Return a reason in one line that anybody may read, empty where it is none.

    Examples
    --------
    >>> public("blocked by policy, see https://a.test/x?sig=1")
    'blocked by policy, see (address)'
    >>> public("<html><body>Bad Request</body></html>")
    ''
    """
    if _NO_SENTENCE.search(reason):
        return ""
    line = " ".join("".join(c if c.isprintable() else " " for c in reason).split())
    for secret in filter(None, secrets):
        line = line.replace(secret, "***")
    for pattern, instead in _TAKEN_OUT:
        line = pattern.sub(instead, line)
    if len(line) > _MOST:
        line = f"{line[:_MOST].rpartition(' ')[0] or line[:_MOST]}..."
    return line if any(c.isalpha() for c in line) else ""
