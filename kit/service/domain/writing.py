"""Titles and scripts: orders are checked, and charged on delivery."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kit.errors import BadRequestError
from kit.parameters import script_problems, shorten, suggest
from kit.pricing import SCRIPT_CREDITS, TITLE_CREDITS, millicredits
from kit.service.domain import credits
from kit.service.domain.credits import Payer, Reason
from kit.service.store import ids, writing
from kit.service.store.database import Transaction
from kit.wire import TOPICS, SuggestTitle, Title, WriteScripts

#: Prices in millicredits.
TITLE_PRICE, SCRIPT_PRICE = map(millicredits, (TITLE_CREDITS, SCRIPT_CREDITS))
MIN_SECONDS, MAX_SECONDS = 10, 180
#: How many of the latest titles of an account count as already delivered.
_MAX_RECENT_TITLES = 500
_DURATION = re.compile("[1-9][0-9]{1,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptBrief:
    """The checked order of a script."""

    topic: str
    title: str
    duration_seconds: int
    hook_angle: str | None
    use_hook: bool
    use_cta: bool
    use_ragebait: bool
    variations: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A text with its measured length and its writer."""

    content: str
    seconds: float
    words: int
    writer: str


class TitleTakenError(Exception):
    """Another order of the account received this title meanwhile: write another one."""


class Writer(Protocol):
    """A writer of titles and scripts; it may take long and must not block the event loop.

    A writer that is not available raises `kit.errors.UnavailableError`: nothing is delivered and
    nothing is charged.
    """

    async def title(self, topic: str, *, seed: int, avoid: Sequence[str]) -> Title:
        """Return a title with its writer, not one in `avoid` (oldest first) if others exist."""
        ...

    async def scripts(self, brief: ScriptBrief, *, seed: int) -> Sequence[Draft]:
        """Return one draft for each variation; they differ."""
        ...


def check_topic(order: SuggestTitle) -> str:
    """Return the topic of an order; raises `BadRequestError` with suggestions if it is unknown."""
    if problems := _topic_problems(order.topic):
        raise BadRequestError.fields(problems)
    return order.topic


def check_order(order: WriteScripts) -> ScriptBrief:
    """Return the checked order of scripts. Source: contract, "Titles and scripts"."""
    problems = [*_topic_problems(order.topic), *script_problems(order)]
    is_number = _DURATION.fullmatch(order.duration)
    if not is_number or not MIN_SECONDS <= int(order.duration) <= MAX_SECONDS:
        sentence = f"must be whole seconds from {MIN_SECONDS} to {MAX_SECONDS}"
        problems.append(("duration", f"{sentence}, not {shorten(order.duration)}"))
    if order.variations not in ("1", "2"):
        sentence = f"must be '1' or '2' as text, not {shorten(order.variations)}"
        problems.append(("variations", sentence))
    if problems:
        raise BadRequestError.fields(problems)
    return ScriptBrief(
        topic=order.topic,
        title=order.title.strip(),
        duration_seconds=int(order.duration),
        hook_angle=(order.hook_angle or "").strip() or None,
        use_hook=order.use_hook,
        use_cta=order.use_cta,
        use_ragebait=order.use_ragebait,
        variations=int(order.variations),
    )


def recent_titles(account_id: str, topic: str) -> Transaction[list[str]]:
    """Return the latest titles of a topic that were delivered to an account, oldest first.

    There are more than the built-in writer has for any topic, and few enough to read at once.
    """
    rows = yield writing.titles(account_id=account_id, topic=topic, most=_MAX_RECENT_TITLES)
    return [row.title for row in reversed(rows)]


def deliver_title(
    topic: str, title: Title, payer: Payer, now: int, *, known: Sequence[str]
) -> Transaction[None]:
    """Charge for a title and store it for the account.

    Raises `TitleTakenError` if the account received it since `known` was read.
    """
    title_id = ids.new("ttl", now)
    # First, because it locks the account: concurrent deliveries see each other's titles.
    yield from credits.charge(payer, TITLE_PRICE, Reason(kind="title", subject=title_id), now)
    delivered = yield from recent_titles(payer.account_id, topic)
    if _count_title(title.title, delivered) > _count_title(title.title, known):
        raise TitleTakenError
    yield writing.add_title(
        id=title_id, account_id=payer.account_id, topic=topic, title=title.title, created_at=now
    )


def deliver_scripts(
    brief: ScriptBrief, drafts: Sequence[Draft], payer: Payer, now: int
) -> Transaction[list[dict[str, Any]]]:
    """Charge for scripts, store them and return their rows."""
    batch_id = ids.new("bat", now)
    reason = Reason(kind="script", subject=batch_id, details={"variations": len(drafts)})
    yield from credits.charge(payer, SCRIPT_PRICE * len(drafts), reason, now)
    rows = []
    for draft in drafts:
        row = {
            "id": ids.new("scr", now),
            "account_id": payer.account_id,
            "batch_id": batch_id,
            "topic": brief.topic,
            "title": brief.title,
            "content": draft.content,
            "duration_ms": round(draft.seconds * 1000),
            "word_count": draft.words,
            "created_at": now,
        }
        yield writing.add_script(**row)
        rows.append(row)
    return rows


def _count_title(title: str, titles: Sequence[str]) -> int:
    """Count a title among titles; a writer without unused titles may repeat some."""
    return [normalize(name) for name in titles].count(normalize(title))


def normalize(text: str) -> str:
    """Return the letters and digits of a text, to compare titles."""
    return "".join(char for char in text.casefold() if char.isalnum())


def _topic_problems(topic: str) -> list[tuple[str, str]]:
    return [] if topic in TOPICS else [("topic", f"unknown topic{suggest(topic, TOPICS)}")]
