"""What an operator's own graph keeps from turn to turn, and the branch that each turn belongs to."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

_Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.add_column("turns", sa.Column("branch", sa.String(40), nullable=True))
    op.add_column("turns", sa.Column("states", sa.LargeBinary(), nullable=True))
    op.create_table(
        "graph_states",
        sa.Column("turn", _Number, sa.ForeignKey("turns.num", ondelete="CASCADE"), primary_key=True),
        sa.Column("ns", sa.Text(), primary_key=True),
        sa.Column("channel", sa.Text(), primary_key=True),
        sa.Column("type", sa.String(20), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
    )
