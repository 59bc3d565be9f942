"""The turns that must be stopped, by owner: each owner looks for its own, and reads no others."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    where = sa.text("stop_requested IS NOT NULL")
    op.drop_index("turns_stopping", "turns")
    op.create_index("turns_stopping", "turns", ["owner", "num"], sqlite_where=where, postgresql_where=where)
