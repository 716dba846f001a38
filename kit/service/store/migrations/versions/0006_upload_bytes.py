"""Accounts know how much their uploads take, and open tickets are counted."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add up what is there."""
    op.add_column(
        "accounts",
        sa.Column("upload_bytes", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
    )
    op.execute(
        """
        UPDATE accounts SET upload_bytes = coalesce((
            SELECT sum(size_bytes) FROM uploads WHERE uploads.account_id = accounts.id
        ), 0)
        """
    )
    waiting = sa.text("state = 'waiting'")
    op.create_index(
        "uploads_waiting",
        "uploads",
        ["account_id", "expires_at"],
        unique=False,
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
