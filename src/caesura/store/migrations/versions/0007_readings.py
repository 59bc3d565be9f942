"""Readings: turns that are read on nodes that do not run them."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "readings",
        sa.Column("turn", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["turn"], ["turns.num"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("turn"),
    )
