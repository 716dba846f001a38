"""When the database was checked, and which run of the service works at a request."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of checks; what runs now belongs to no run that is known."""
    op.create_table(
        "checks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.add_column("idempotency", sa.Column("owner", sa.Text(), nullable=True))
    op.create_index(
        "idempotency_running",
        "idempotency",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("status IS NULL"),
        postgresql_where=sa.text("status IS NULL"),
    )
