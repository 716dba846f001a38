"""Accounts count how often all their signed addresses were ended."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let none have been ended so far."""
    op.add_column(
        "accounts",
        sa.Column("sign_outs", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
    )
