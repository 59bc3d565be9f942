"""Checkpoints are ordered by the database, not by the clock of the process that made them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("checkpoints", sa.Column("place", sa.Integer(), nullable=False, server_default="0"))
    op.execute(
        "UPDATE checkpoints SET place = (SELECT count(*) FROM checkpoints other"
        " WHERE other.turn = checkpoints.turn AND other.ns = checkpoints.ns AND other.id <= checkpoints.id)"
    )
