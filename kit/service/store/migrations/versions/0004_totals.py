"""Reads that do not grow with the history: running totals, and an index for every filter."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

from kit.service.store import ids

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

#: What brings the totals to what they are by now, with the beginning of the month that it is.
_FILL = (
    """
    UPDATE ledger SET charged_after = totals.charged, refunded_after = totals.refunded
    FROM (
        SELECT
            id,
            sum(CASE WHEN millicredits < 0 THEN -millicredits ELSE 0 END)
                OVER (PARTITION BY account_id ORDER BY id) AS charged,
            sum(CASE WHEN kind = 'refund' THEN millicredits ELSE 0 END)
                OVER (PARTITION BY account_id ORDER BY id) AS refunded
        FROM ledger
    ) AS totals
    WHERE totals.id = ledger.id
    """,
    """
    UPDATE accounts SET charged = totals.charged, refunded = totals.refunded
    FROM (
        SELECT account_id, max(charged_after) AS charged, max(refunded_after) AS refunded
        FROM ledger GROUP BY account_id
    ) AS totals
    WHERE totals.account_id = accounts.id
    """,
    """
    UPDATE keys SET spent_since = :since, spent = coalesce((
        SELECT -sum(millicredits) FROM ledger
        WHERE ledger.key_id = keys.id AND ledger.created_at >= :since
            AND (kind <> 'refund' OR generation_id >= :first)
    ), 0)
    WHERE cap IS NOT NULL
    """,
)


def upgrade() -> None:
    """Add the totals with what they are by now, and exchange the indexes."""
    for table, columns in {
        "accounts": ("charged", "refunded"),
        "keys": ("spent", "spent_since"),
        "ledger": ("charged_after", "refunded_after"),
    }.items():
        for name in columns:
            op.add_column(
                table, sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)
            )
    _fill()
    op.drop_index("ledger_by_key", table_name="ledger")
    op.drop_index("titles_by_topic", table_name="titles")
    op.create_index("titles_by_topic", "titles", ["account_id", "topic", "id"], unique=False)
    op.drop_index("generations_by_state", table_name="generations")
    by_state = ["account_id", "state", "asset_type", "id"]
    op.create_index("generations_by_state", "generations", by_state, unique=False)
    by_model = ["account_id", "model_id", "state", "asset_type", "id"]
    op.create_index("generations_by_model_and_state", "generations", by_model, unique=False)


def _fill() -> None:
    month = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    since = int(month.timestamp() * 1000)
    *totals, spent = map(sa.text, _FILL)
    for statement in totals:
        op.execute(statement)
    op.execute(spent.bindparams(since=since, first=ids.floor("gen", since)))
