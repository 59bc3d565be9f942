"""What a turn takes of the storage includes its interrupts, with their answers, and its tool calls."""

from alembic import op

revision = "0008"
down_revision = "0007"

_TABLES = {
    "interrupts": "length(body) + coalesce(length(answer), 0)",
    "tool_calls": "length(args) + coalesce(length(output), 0)",
}


def upgrade() -> None:
    for table, size in _TABLES.items():
        op.execute(
            f"UPDATE conversations SET stored = stored + coalesce((SELECT sum({size}) FROM {table}"  # noqa: S608 - constants
            f" JOIN turns ON turns.num = {table}.turn WHERE turns.conversation_id = conversations.id), 0)"
        )
        op.execute(
            f"UPDATE turns SET size = size + coalesce((SELECT sum({size}) FROM {table}"  # noqa: S608 - constants
            f" WHERE {table}.turn = turns.num), 0)"
        )
