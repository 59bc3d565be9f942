"""How Alembic runs here: on the connection it is given, inside the transaction that is open on it."""

from alembic import context

from caesura.store import indexes

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=indexes.complete(), transaction_per_migration=False)
with context.begin_transaction():
    context.run_migrations()
