"""What the feed of each person tells."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=True
        ),
        sa.Column("user_id", sa.String(50), nullable=False),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("conversation_id", sa.String(150), nullable=False),
        sa.Column("ref", sa.String(40), nullable=False, server_default=""),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("changes_by_user", "changes", ["user_id", "seq"])
