"""A question remembers the viewers that it was shown to. Those that wait now may have been shown already."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("interrupts", sa.Column("shown_to", sa.Text(), nullable=True))
    op.execute("UPDATE interrupts SET shown_to = '' WHERE status = 'pending'")
