"""What the feed of each person tells."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column("user_id", sa.String(50), primary_key=True),
        sa.Column(
            "seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True, autoincrement=False
        ),
        sa.Column("kind", sa.String(12), nullable=False),
        sa.Column("conversation_id", sa.String(150), nullable=False),
        sa.Column("ref", sa.String(40), nullable=False, server_default=""),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sqlite_with_rowid=False,
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE SEQUENCE changes_seq")
