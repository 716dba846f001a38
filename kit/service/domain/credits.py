"""Credits: charges, grants and refunds, each with its ledger entry in the same transaction."""

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
#: The largest amount in millicredits that databases can store; higher prices cannot be paid.
_MAX_AMOUNT = 2**63 - 1
#: Age in milliseconds from which entries count as turnover, and how many are read at a time.
_SETTLED_MS = 15_000
_MAX_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class Payer:
    """The account that pays and the key that it uses."""

    account_id: str
    key_id: str | None = None
    key_prefix: str | None = None
    #: Limit in millicredits on the spending of the key in a calendar month, UTC.
    cap: int | None = None

    @property
    def actor(self) -> str:
        """The actor for the audit log."""
        return f"key:{self.key_prefix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The reason of a ledger entry."""

    #: ``grant``, ``generation``, ``title``, ``script`` or ``refund``.
    kind: str
    #: Id of what is charged or refunded; unique per kind, so that nothing is charged twice.
    subject: str
    generation_id: str | None = None
    model_id: str | None = None
    details: dict[str, Any] | None = None
    #: Tags of the generation, as JSON.
    tags: str | None = None


def charge(payer: Payer, amount: int, reason: Reason, now: int) -> Transaction[int]:
    """Charge millicredits and return the new balance."""
    # First, because it locks the account: concurrent charges see the balance one after another.
    row = None
    if amount <= _MAX_AMOUNT:
        row = yield from one(_enter(payer, -amount, reason, now))
    if row is None:
        account = yield from one(accounts.find(id=payer.account_id))
        raise _shortage_error(amount, account.balance)
    if payer.cap is not None:
        month, latest = _month_bounds(now)
        step = keys.spend(id=payer.key_id, amount=amount, month=month, latest=latest)
        while (yield from one(step)) is None:  # retry: a refund may have freed credits meanwhile
            yield from _check_cap(payer, amount, now)
    return int(row.balance_after)


def add(payer: Payer, amount: int, reason: Reason, now: int) -> Transaction[int]:
    """Add millicredits, as a grant or a refund, and return the new balance."""
    row = yield from require(_enter(payer, amount, reason, now), "account", payer.account_id)
    return int(row.balance_after)


def refund(row: Any, sentence: str, now: int) -> Transaction[None]:
    """Refund the full charge of a generation; the entry contains generation and reason."""
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
    # The account before the key, in the order of a charge, so that they cannot deadlock.
    yield from add(payer, row.millicredits, reason, now)
    # Charges of earlier months do not count towards the cap.
    if key and key.cap is not None and row.id >= ids.floor("gen", key.spent_since):
        yield keys.unspend(id=key.id, amount=row.millicredits)


def grant(
    account_id: str, amount: int, now: int, note: str = "", *, actor: str = audit.SERVICE
) -> Transaction[int]:
    """Grant credits to an account and return its new balance in millicredits."""
    details = {"note": note} if note else None
    reason = Reason(kind="grant", subject=ids.new("grt", now), details=details)
    balance = yield from add(Payer(account_id), amount, reason, now)
    facts = {"credits": f"{credits(amount):f}", "note": note or None}
    yield from audit.record("credits.granted", account_id, actor, now, **facts)
    return balance


def check(payer: Payer, amount: int, now: int) -> Transaction[None]:
    """Raise an error if the balance or the cap of the key is too low; nothing is charged."""
    account = yield from one(accounts.find(id=payer.account_id))
    if account.balance < amount:
        raise _shortage_error(amount, account.balance)
    yield from _check_cap(payer, amount, now)


def spendable(payer: Payer, now: int) -> Transaction[int]:
    """Return the millicredits that the account can spend now with this key."""
    account = yield from one(accounts.find(id=payer.account_id))
    balance = int(account.balance)
    if payer.cap is None:
        return balance
    return min(balance, remaining_cap((yield from one(keys.find(id=payer.key_id))), now))


def remaining_cap(key: Any, now: int) -> int:
    """Return the millicredits that a key with a cap may still spend this month."""
    month, latest = _month_bounds(now)
    return max(int(key.cap) - (key.spent if month <= key.spent_since <= latest else 0), 0)


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
    """Return an account's entries, newest first, older than the entry `before`."""
    before = before or ids.ceiling("led")
    return (yield ledger.page(account_id=account_id, before=before, most=most))


def turnover(after: str, now: int) -> Transaction[tuple[str, dict[str, int]]]:
    """Return the id of the last entry read, and the sums of all accounts by kind since `after`.

    A call reads a bounded number of entries; the next call continues from there. The newest entries
    are not read yet, because a transaction that is still open may insert one between them.
    """
    until = ids.floor("led", now - _SETTLED_MS)
    rows = yield ledger.sums(after=after, until=until, most=_MAX_ENTRIES)
    return max((row.last for row in rows), default=after), {r.kind: int(r.total) for r in rows}


@dataclass(frozen=True, slots=True)
class Discrepancy:
    """An error in the ledger of an account."""

    account_id: str
    #: Id of the account, generation or entry with the error.
    subject: str
    problem: str


def verify() -> Transaction[list[Discrepancy]]:
    """Return the errors in the ledger; there should never be any.

    Balances and totals must be the sums of their entries, each entry must continue from the balance
    of another entry, each generation must have been charged once and refunded as its row says (in
    full if it failed), and each charge must belong to something that the account has.
    """
    found = []
    for row in (yield ledger.unbalanced()):
        for name, stored, summed in (
            ("balance", row.balance, row.total),
            ("charged in all", row.charged, row.debits),
            ("refunded in all", row.refunded, row.refunds),
        ):
            if stored != summed:
                problem = f"{name} {credits(stored):f}, ledger {credits(summed):f}"
                found.append(Discrepancy(row.id, row.id, problem))
    for row in (yield ledger.broken()):
        how = "no entry continues from" if row.steps > 0 else "no entry results in"
        problem = f"{how} a balance of {credits(row.value):f}"
        found.append(Discrepancy(row.account_id, row.account_id, problem))
    for row in sorted((yield ledger.mischarged())):  # in the order of ids
        amounts = (row.millicredits, row.charged, row.refunded, row.given)
        cost, charged, refunded, returned = (f"{credits(amount):f}" for amount in amounts)
        problem = (
            f"{row.state}, costs {cost} and the ledger charges {charged}, "
            f"refunded {refunded} and the ledger gives back {returned}"
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
    if amount > (remaining := remaining_cap(key, now)):
        cap = f"for the key {payer.key_prefix}…, whose cap is {credits(key.cap):f}"
        raise _shortage_error(amount, remaining, f" this month {cap}")


def _shortage_error(amount: int, remaining: int, where: str = "") -> InsufficientCreditsError:
    required, available = credits(amount), credits(remaining)
    sentence = f"{required:f} credits required, {available:f} available{where}"
    details = {"required": float(required), "available": float(available)}
    return InsufficientCreditsError(sentence, details=details)


def _month_bounds(now: int) -> tuple[int, int]:
    """Return the start of this month, and the latest that a service with a right clock has."""
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
