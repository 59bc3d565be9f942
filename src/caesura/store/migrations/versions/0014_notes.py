"""What is kept of an ended turn beside its messages, and up to where each conversation was read."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("turns", sa.Column("about", sa.LargeBinary(), nullable=True))
    op.create_table(
        "read_marks",
        sa.Column(
            "conversation_id",
            sa.String(150),
            sa.ForeignKey("conversations.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("turn_id", sa.String(40), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
    )
