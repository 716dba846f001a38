"""Alembic's entry: it is only ever asked for SQL text, never given a connection."""

from alembic import context

context.configure(dialect_name=context.config.get_main_option("dialect"), literal_binds=True)
with context.begin_transaction():
    context.run_migrations()
