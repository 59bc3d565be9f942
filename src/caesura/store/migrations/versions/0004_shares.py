"""What each turn and each conversation takes of the storage, and indexes to count what a person has."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("turns", sa.Column("size", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("conversations", sa.Column("stored", sa.BigInteger(), server_default="0", nullable=False))
    op.execute(
        "UPDATE turns SET size = length(content) + coalesce(length(messages), 0)"
        " + coalesce((SELECT sum(length(body)) FROM events WHERE events.turn = turns.num), 0)"
    )
    op.execute(
        "UPDATE conversations SET stored ="
        " coalesce((SELECT sum(size) FROM turns WHERE conversation_id = conversations.id), 0)"
        " + coalesce((SELECT sum(length(content) + length(changes)) FROM artifact_versions"
        " WHERE conversation_id = conversations.id), 0)"
    )
    op.create_index(
        "turns_running",
        "turns",
        ["user_id"],
        unique=False,
        sqlite_where=sa.text("status IN ('queued', 'running')"),
        postgresql_where=sa.text("status IN ('queued', 'running')"),
    )
    op.create_index("conversations_stored", "conversations", ["user_id", "stored"], unique=False)
