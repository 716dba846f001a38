"""Credits: taken and given back, each time with its line in the ledger, in one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from kit.errors import InsufficientCreditsError
from kit.pricing import credits
from kit.service.domain import audit
from kit.service.store import accounts, generations, ids, keys, ledger
from kit.service.store.database import Rows, Transaction, one, require
from kit.service.store.statements import Step

_MONTH_MS = 30 * 24 * 3600 * 1000
#: The most millicredits that databases can count; a higher price cannot be paid.
_MOST = 2**63 - 1
#: How old an entry is before it counts as turnover, in milliseconds, and how many are read at once.
_SETTLED_MS = 15_000
_ENTRIES_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Payer:
    """The account that pays and the key that it pays with."""

    account_id: str
    key_id: str | None = None
    key_prefix: str | None = None
    #: Millicredits that the key may spend in a calendar month, UTC.
    cap: int | None = None

    @property
    def actor(self) -> str:
        """Who gives an order, for the audit."""
        return f"key:{self.key_prefix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What an entry is for."""

    #: ``grant``, ``generation``, ``title``, ``script`` or ``refund``.
    kind: str
    #: Id of what is paid for; it has one entry of a kind, so nothing is paid twice.
    subject: str
    generation_id: str | None = None
    model_id: str | None = None
    details: dict[str, Any] | None = None
    #: Those of the generation, as JSON.
    tags: str | None = None


def charge(payer: Payer, amount: int, reason: Reason, now: int) -> Transaction[int]:
    """Charge millicredits and return the balance that is left."""
    # First, because it locks the account: of two charges, the second sees what the first took.
    row = None
    if amount <= _MOST:
        row = yield from one(_enter(payer, -amount, reason, now))
    if row is None:
        account = yield from one(accounts.find(id=payer.account_id))
        raise _short(amount, account.balance)
    if payer.cap is not None:
        month, latest = _months(now)
        counted = keys.spend(id=payer.key_id, amount=amount, month=month, latest=latest)
        while (yield from one(counted)) is None:  # again, should some be given back just now
            yield from _check_cap(payer, amount, now)
    return int(row.balance_after)


def add(payer: Payer, amount: int, reason: Reason, now: int) -> Transaction[int]:
    """Add millicredits, as a grant or a refund, and return the new balance."""
    row = yield from require(_enter(payer, amount, reason, now), "account", payer.account_id)
    return int(row.balance_after)


def refund(row: Any, sentence: str, now: int) -> Transaction[None]:
    """Give back in full what a generation was charged; the entry names both."""
    reason = Reason(
        kind="refund",
        subject=row.id,
        generation_id=row.id,
        model_id=row.model_id,
        details={"reason": sentence},
        tags=row.tags,
    )
    key = (yield from one(keys.find(id=row.key_id))) if row.key_id else None
    payer = Payer(row.account_id, row.key_id or None, key.prefix if key else None)
    # The account before its key, as a charge has it: so none waits for another that waits for it.
    yield from add(payer, row.millicredits, reason, now)
    # What was charged in an earlier month is no longer counted.
    if key and key.cap is not None and row.id >= ids.floor("gen", key.spent_since):
        yield keys.unspend(id=key.id, amount=row.millicredits)


def grant(
    account_id: str, amount: int, now: int, note: str = "", *, actor: str = audit.SERVICE
) -> Transaction[int]:
    """Give an account credits to spend and return its new balance in millicredits."""
    details = {"note": note} if note else None
    reason = Reason(kind="grant", subject=ids.new("grt", now), details=details)
    balance = yield from add(Payer(account_id), amount, reason, now)
    facts = {"credits": f"{credits(amount):f}", "note": note or None}
    yield from audit.record("credits.granted", account_id, actor, now, **facts)
    return balance


def check(payer: Payer, amount: int, now: int) -> Transaction[None]:
    """Refuse what the balance or the key's cap does not allow, without taking anything."""
    account = yield from one(accounts.find(id=payer.account_id))
    if account.balance < amount:
        raise _short(amount, account.balance)
    yield from _check_cap(payer, amount, now)


def balance(account_id: str, now: int) -> Transaction[dict[str, int]]:
    """Return balance, reserved, charged and refunded in the last 30 days, in millicredits."""
    account = yield from one(accounts.find(id=account_id))
    reserved = yield from one(generations.reserved(account_id=account_id))
    since = ids.floor("led", now - _MONTH_MS)
    before = yield from one(ledger.totals_before(account_id=account_id, before=since))
    return {
        "balance": account.balance,
        "reserved": reserved.total,
        "charged30d": account.charged - before.charged_after,
        "refunded30d": account.refunded - before.refunded_after,
    }


def list_entries(account_id: str, *, most: int, before: str | None) -> Transaction[Rows]:
    """Return an account's entries, newest first, below an entry's id."""
    before = before or ids.ceiling("led")
    return (yield ledger.page(account_id=account_id, before=before, most=most))


def turnover(after: str, now: int) -> Transaction[tuple[str, dict[str, int]]]:
    """Return the last entry that was read after another one, and everybody's sums by kind.

    A call reads a bounded number of entries; the rest comes with the next. The youngest are left
    for later, because a transaction that still waits may put one in between.
    """
    until = ids.floor("led", now - _SETTLED_MS)
    rows = yield ledger.sums(after=after, until=until, most=_ENTRIES_AT_ONCE)
    return max((row.last for row in rows), default=after), {r.kind: int(r.total) for r in rows}


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """Something that is wrong in the books of an account."""

    account_id: str
    #: Id of the account, generation or entry that it is about.
    subject: str
    problem: str


def verify() -> Transaction[list[Discrepancy]]:
    """Return what is wrong in the ledger: nothing, ever.

    Every balance and total is the sum of its entries, every entry goes on from the balance that
    another one left, every generation was charged once and refunded as its row says (in full when
    it failed), and every charge is for something that the account has.
    """
    found = []
    for row in (yield ledger.unbalanced()):
        for name, kept, summed in (
            ("balance", row.balance, row.total),
            ("charged in all", row.charged, row.debits),
            ("refunded in all", row.refunded, row.refunds),
        ):
            if kept != summed:
                problem = f"{name} {credits(kept):f}, ledger {credits(summed):f}"
                found.append(Discrepancy(row.id, row.id, problem))
    for row in (yield ledger.broken()):
        how = "no entry goes on from" if row.steps > 0 else "no entry leads to"
        problem = f"{how} a balance of {credits(row.value):f}"
        found.append(Discrepancy(row.account_id, row.account_id, problem))
    for row in (yield ledger.mischarged()):
        amounts = (row.millicredits, row.charged, row.refunded, row.given)
        cost, charged, back, given = (f"{credits(amount):f}" for amount in amounts)
        problem = (
            f"{row.state}, costs {cost} and the ledger charges {charged}, "
            f"refunded {back} and the ledger gives back {given}"
        )
        found.append(Discrepancy(row.account_id, row.id, problem))
    for row in (yield ledger.unfounded()):
        problem = f"a {row.kind} entry for {row.subject}, which the account does not have"
        found.append(Discrepancy(row.account_id, row.id, problem))
    return found


def _check_cap(payer: Payer, amount: int, now: int) -> Transaction[None]:
    if payer.cap is None:
        return
    key = yield from one(keys.find(id=payer.key_id))
    month, latest = _months(now)
    spent = key.spent if month <= key.spent_since <= latest else 0
    left = max(key.cap - spent, 0)
    if amount > left:
        cap = f"for the key {payer.key_prefix}…, whose cap is {credits(key.cap):f}"
        raise _short(amount, left, f" this month {cap}")


def _short(amount: int, left: int, where: str = "") -> InsufficientCreditsError:
    required, available = credits(amount), credits(left)
    sentence = f"{required:f} credits required, {available:f} available{where}"
    details = {"required": float(required), "available": float(available)}
    return InsufficientCreditsError(sentence, details=details)


def _months(now: int) -> tuple[int, int]:
    """Return when this month began, and a time when no other service's month has begun."""
    moment = datetime.fromtimestamp(now / 1000, UTC)
    start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    month = int(start.timestamp() * 1000)
    return month, month + 2 * _MONTH_MS


def _enter(payer: Payer, amount: int, reason: Reason, now: int) -> Step:
    return ledger.enter(
        id=ids.new("led", now),
        account_id=payer.account_id,
        kind=reason.kind,
        subject=reason.subject,
        amount=amount,
        charged=max(-amount, 0),
        refunded=amount if reason.kind == "refund" else 0,
        generation_id=reason.generation_id,
        model_id=reason.model_id,
        key_id=payer.key_id,
        key_prefix=payer.key_prefix,
        details=orjson.dumps(reason.details).decode() if reason.details else None,
        tags=reason.tags,
        created_at=now,
    )
