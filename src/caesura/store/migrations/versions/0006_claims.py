"""Indexes for whoever looks for work: each look reads the turns that somebody must take up, and no others."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.drop_index("turns_live", "turns")
    op.drop_index("turns_held", "turns")
    for name, columns, where in (
        ("turns_queued", ["user_id", "num"], "status = 'queued'"),
        ("turns_held", ["lease_until"], "owner IS NOT NULL"),
        ("turns_expiring", ["waits_until"], "waits_until IS NOT NULL"),
        ("turns_stopping", ["num"], "stop_requested IS NOT NULL"),
    ):
        op.create_index(name, "turns", columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))
