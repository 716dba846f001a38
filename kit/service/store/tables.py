"""The tables: moments are milliseconds since 1970 UTC, credits whole 1/1000 credit, JSON is text.

A change here needs a migration beside it; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ColumnElement,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    literal_column,
    text,
)

metadata = MetaData()

#: Who pays. Balance and totals are kept beside the ledger and are always its sums.
accounts = Table(
    "accounts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("balance", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("charged", BigInteger, nullable=False, server_default=text("0")),
    Column("refunded", BigInteger, nullable=False, server_default=text("0")),
    # bytes of its uploads: of files that are kept, and of tickets that may still bring one
    Column("upload_bytes", BigInteger, nullable=False, server_default=text("0")),
    # how often all signed addresses were ended; each carries it in its signature
    Column("sign_outs", BigInteger, nullable=False, server_default=text("0")),
    CheckConstraint("balance >= 0", name="balance_is_never_negative"),
)

#: Secrets that act for an account. Only an HMAC of a key is kept.
keys = Table(
    "keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("scopes", Text, nullable=False),  # separated by blanks
    Column("cap", BigInteger),  # millicredits in a calendar month, UTC
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("last_used_at", BigInteger),
    Column("revoked_at", BigInteger),
    # What a key with a cap has spent in the month that began then, less what was given back of it.
    Column("spent", BigInteger, nullable=False, server_default=text("0")),
    Column("spent_since", BigInteger, nullable=False, server_default=text("0")),
    Index("keys_by_account", "account_id", "id"),
)

#: Entries are added and never changed. A subject has one entry of a kind: nothing is paid twice.
#: Each has the account's totals after it, so that a span of time is a difference of two entries.
ledger = Table(
    "ledger",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("kind", Text, nullable=False),  # grant | generation | title | script | refund
    Column("subject", Text, nullable=False),
    Column("millicredits", BigInteger, nullable=False),
    Column("balance_after", BigInteger, nullable=False),
    Column("generation_id", Text),
    Column("model_id", Text),
    Column("key_id", Text),
    Column("key_prefix", Text),
    Column("details", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("charged_after", BigInteger, nullable=False, server_default=text("0")),
    Column("refunded_after", BigInteger, nullable=False, server_default=text("0")),
    UniqueConstraint("subject", "kind", name="paid_once"),
    Index("ledger_by_account", "account_id", "id"),
)

#: The orders, and at the same time the queue: `queued` and `running` are `processing` outside.
generations = Table(
    "generations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("key_id", Text, nullable=False),
    Column("state", Text, nullable=False),  # queued | running | completed | failed | canceled
    Column("asset_type", Text, nullable=False),
    Column("generation_type", Text, nullable=False),
    Column("model_id", Text, nullable=False),
    Column("model_name", Text, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("media", Text, nullable=False),  # {parameter: [upload id]}
    Column("seed", BigInteger, nullable=False),
    Column("millicredits", BigInteger, nullable=False),
    Column("refunded", BigInteger, nullable=False),
    Column("progress", Float, nullable=False),
    Column("attempt", Integer, nullable=False),  # fences what a worker may write
    Column("losses", Integer, nullable=False),  # attempts whose worker was lost
    # what waits is claimed by rounds, and an account has one generation in each
    Column("queue_round", BigInteger, nullable=False, server_default=text("0")),
    Column("owner", Text),
    Column("lease_until", BigInteger),
    Column("error", Text),
    Column("error_code", Text),
    Column("output", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("completed_at", BigInteger),
    Column("outputs_deleted_at", BigInteger),
    Index("generations_by_account", "account_id", "id"),
    Index("generations_by_state", "account_id", "state", "asset_type", "id"),
    Index("generations_by_model_and_state", "account_id", "model_id", "state", "asset_type", "id"),
    Index("generations_by_model", "model_id", "id"),
)

#: Literals and not parameters: a database only uses an index on some rows when it sees the value.
QUEUED_STATE: ColumnElement[str] = literal_column("'queued'", Text)
RUNNING_STATE: ColumnElement[str] = literal_column("'running'", Text)
_queued = generations.c.state == QUEUED_STATE
_running = generations.c.state == RUNNING_STATE
Index(
    "generations_queued",
    generations.c.queue_round,
    generations.c.id,
    generations.c.model_id,
    sqlite_where=_queued,
    postgresql_where=_queued,
)
Index(
    "generations_running",
    generations.c.lease_until,
    sqlite_where=_running,
    postgresql_where=_running,
)

WAITING_STATE: ColumnElement[str] = literal_column("'waiting'", Text)
#: Tickets and the files that came for them.
uploads = Table(
    "uploads",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("model_id", Text, nullable=False),
    Column("kind", Text, nullable=False),  # image | video | audio
    Column("file_name", Text, nullable=False),
    Column("content_type", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("state", Text, nullable=False),  # waiting | filled
    Column("sha256", Text),
    Column("duration_ms", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("filled_at", BigInteger),
    Column("used_at", BigInteger),
    Index("uploads_unused", "used_at", "created_at"),
)
_waiting = uploads.c.state == WAITING_STATE
Index(
    "uploads_waiting",
    uploads.c.account_id,
    uploads.c.expires_at,
    sqlite_where=_waiting,
    postgresql_where=_waiting,
)

#: Titles that an account was given, so that none comes twice.
titles = Table(
    "titles",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("topic", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index("titles_by_topic", "account_id", "topic", "id"),
)

#: Delivered scripts.
scripts = Table(
    "scripts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("account_id", Text, ForeignKey("accounts.id"), nullable=False),
    Column("batch_id", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("duration_ms", BigInteger, nullable=False),
    Column("word_count", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index("scripts_by_account", "account_id", "id"),
)

#: Answers kept for replay. Without a status the first request is still running.
idempotency = Table(
    "idempotency",
    metadata,
    Column("account_id", Text, ForeignKey("accounts.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("status", Integer),
    Column("headers", Text),
    Column("body", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("owner", Text),  # the run of the service that works at it
    Index("idempotency_by_age", "created_at"),
)
_unanswered = idempotency.c.status.is_(None)
Index(
    "idempotency_running",
    idempotency.c.created_at,
    sqlite_where=_unanswered,
    postgresql_where=_unanswered,
)

#: Files that no row names any more; a line goes when its file is gone.
removals = Table(
    "removals",
    metadata,
    Column("key", Text, primary_key=True),
    Column("created_at", BigInteger, nullable=False),
)

#: What was done to the service by hand or by its own rules. Lines are added and never changed.
audit = Table(
    "audit",
    metadata,
    Column("id", Text, primary_key=True),
    Column("actor", Text, nullable=False),
    Column("act", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Text),
    Column("created_at", BigInteger, nullable=False),
)

#: When a check of the database was made last, by its name.
checks = Table(
    "checks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("at", BigInteger, nullable=False),
)
