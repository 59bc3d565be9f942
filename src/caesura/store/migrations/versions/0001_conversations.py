"""People, conversations, turns, events, interrupts, the tool journal, checkpoints and idempotency keys."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "events",
        sa.Column(
            "turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False
        ),
        sa.Column("first", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.SmallInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("turn", "first"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "users",
        sa.Column("id", sa.String(length=50), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("conversation_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=150), nullable=False),
        sa.Column("user_id", sa.String(length=50), nullable=False),
        sa.Column("agent", sa.String(length=100), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=True),
        sa.Column("session", sa.String(length=200), nullable=True),
        sa.Column("active_turn", sa.String(length=40), nullable=True),
        sa.Column("turn_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "conversations_by_creation", "conversations", ["user_id", "created_at", "id"], unique=False
    )
    op.create_index("conversations_by_session", "conversations", ["user_id", "agent", "session"], unique=True)
    op.create_index("conversations_by_update", "conversations", ["user_id", "updated_at", "id"], unique=False)
    op.create_table(
        "keys",
        sa.Column("user_id", sa.String(length=50), nullable=False),
        sa.Column("key", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("conversation_id", sa.String(length=150), nullable=True),
        sa.Column("response", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "key"),
    )
    op.create_index("keys_by_age", "keys", ["created_at"], unique=False)
    op.create_index("keys_by_conversation", "keys", ["conversation_id"], unique=False)
    op.create_table(
        "turns",
        sa.Column(
            "num", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("conversation_id", sa.String(length=150), nullable=False),
        sa.Column("user_id", sa.String(length=50), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("parent_id", sa.String(length=40), nullable=True),
        sa.Column("agent", sa.String(length=100), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("epoch", sa.Integer(), server_default="0", nullable=False),
        sa.Column("segment", sa.Integer(), server_default="0", nullable=False),
        sa.Column("segment_seq", sa.Integer(), server_default="0", nullable=False),
        sa.Column("stop_requested", sa.String(length=12), nullable=True),
        sa.Column("on_disconnect", sa.String(length=10), server_default="continue", nullable=False),
        sa.Column("running_ms", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("waits_until", sa.BigInteger(), nullable=True),
        sa.Column("message_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("messages", sa.LargeBinary(), nullable=True),
        sa.Column("grants", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'running', 'waiting', 'done', 'failed', 'stopped')", name="turns_status"
        ),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("num"),
        sa.UniqueConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("turns_by_conversation", "turns", ["conversation_id", "ordinal"], unique=True)
    op.create_index(
        "turns_held",
        "turns",
        ["owner"],
        unique=False,
        sqlite_where=sa.text("owner IS NOT NULL"),
        postgresql_where=sa.text("owner IS NOT NULL"),
    )
    op.create_index(
        "turns_live",
        "turns",
        ["status", "lease_until"],
        unique=False,
        sqlite_where=sa.text("status IN ('queued', 'running', 'waiting')"),
        postgresql_where=sa.text("status IN ('queued', 'running', 'waiting')"),
    )
    op.create_table(
        "checkpoint_writes",
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ns", sa.Text(), nullable=False),
        sa.Column("checkpoint_id", sa.String(length=100), nullable=False),
        sa.Column("task_id", sa.String(length=100), nullable=False),
        sa.Column("idx", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("path", sa.Text(), server_default="", nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["turn"], ["turns.num"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("turn", "ns", "checkpoint_id", "task_id", "idx"),
    )
    op.create_table(
        "checkpoints",
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ns", sa.Text(), nullable=False),
        sa.Column("id", sa.String(length=100), nullable=False),
        sa.Column("parent_id", sa.String(length=100), nullable=True),
        sa.Column("type", sa.String(length=20), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("metadata", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["turn"], ["turns.num"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("turn", "ns", "id"),
    )
    op.create_table(
        "interrupts",
        sa.Column("id", sa.String(length=40), nullable=False),
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.String(length=50), nullable=False),
        sa.Column("graph_id", sa.String(length=100), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('pending', 'answered', 'expired', 'superseded', 'cancelled')",
            name="interrupts_status",
        ),
        sa.ForeignKeyConstraint(["turn"], ["turns.num"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("interrupts_by_turn", "interrupts", ["turn"], unique=False)
    op.create_index(
        "interrupts_waiting",
        "interrupts",
        ["user_id", "created_at"],
        unique=False,
        sqlite_where=sa.text("status = 'pending'"),
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_table(
        "tool_calls",
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("args", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.String(length=10), nullable=False),
        sa.Column("output", sa.LargeBinary(), nullable=True),
        sa.Column("begun_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("status IN ('begun', 'ended')", name="tool_calls_status"),
        sa.ForeignKeyConstraint(["turn"], ["turns.num"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("turn", "id"),
    )
