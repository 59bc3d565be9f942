"""Summaries of what is too long ago for a model's window."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.create_table(
        "summaries",
        sa.Column(
            "conversation_id",
            sa.String(150),
            sa.ForeignKey("conversations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("turn_id", sa.String(40), primary_key=True),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
    )
