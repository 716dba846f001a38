"""Generations wait in rounds, so that accounts take turns."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let what waits now be in the first round, in its order."""
    op.add_column(
        "generations",
        sa.Column("queue_round", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
    )
    op.drop_index("generations_queued", "generations")
    op.create_index(
        "generations_queued",
        "generations",
        ["queue_round", "id", "model_id"],
        unique=False,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
