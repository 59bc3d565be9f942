"""Where an operator's own graph makes its tool calls."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    op.add_column("tool_calls", sa.Column("place", sa.String(64)))
