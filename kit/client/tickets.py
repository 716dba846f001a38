"""Tickets for uploads: whether one fits, whether it has ended, and what a refusal means."""

from __future__ import annotations

from collections.abc import Mapping

from kit import wire
from kit.client import answers, flows
from kit.client.steps import Lost, Reply

#: Answers that a ticket gets which is not valid any more.
_ENDED = frozenset({400, 401, 403, 410})


def misfit(ticket: wire.Ticket, size: int) -> str:
    """Return why a file of so many bytes cannot be sent with a ticket, empty where it can.

    Examples
    --------
    >>> misfit(wire.Ticket(upload_id="u", upload_url="/u", required_headers={"X-A": "1"}), 7)
    ''
    """
    for name, value in ticket.required_headers.items():
        if name.lower() == "content-length" and value.strip() != str(size):
            return f"the service's ticket is for {value.strip()[:20]} bytes, and it has {size:,}"
        if not _sendable(name, value):
            return f"the service's ticket wants the header {name[:80]!r}, which cannot be sent"
    return ""


def final(outcome: Reply | Lost) -> bool:
    """Return whether an answer to an upload is one that another attempt would get as well."""
    return isinstance(outcome, Reply) and outcome.status < 500 and outcome.status != 429


def ended(ticket: wire.Ticket, outcome: Reply | Lost) -> bool:
    """Return whether a ticket was refused because its time is over: by its date, or in words."""
    if not isinstance(outcome, Reply) or outcome.status not in _ENDED:
        return False
    if ticket.expires_at is not None and answers.moment(outcome) >= ticket.expires_at:
        return True
    return "expired" in str(flows.problem(outcome)).lower()


def refusal(name: str, outcome: Reply | Lost) -> str:
    """Return why a file is not there: it was turned down, or something broke on the way."""
    error, status = flows.problem(outcome), getattr(outcome, "status", 0)
    reason = _wrong_with_it(error) or (flows.told(error) if error else "")
    if 300 <= status < 400:
        reason = "its address leads to another one, which is not followed"
    fate = "was refused" if 400 <= status < 500 and status != 429 else "did not arrive"
    return f"the file {name!r} {fate}: {reason}"


def _wrong_with_it(error: Exception | None) -> str:
    """Return what a service says of the file itself, without the field that it names."""
    found = getattr(error, "details", None)
    details = [d for d in found if isinstance(d, Mapping)] if isinstance(found, list) else []
    return "; ".join(str(d.get("message")) for d in details if d.get("field") == "file")


def _sendable(name: str, value: str) -> bool:
    """Whether a header can be written into a request. Source: RFC 9110, sections 5.1 and 5.5."""
    token = (
        name.isascii() and bool(name) and all(c.isalnum() or c in "!#$%&'*+-.^_`|~" for c in name)
    )
    return token and value.isascii() and (value.isprintable() or not value)
