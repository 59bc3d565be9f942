"""Sessions of browsers: those that were ended before their time, and how often a person has logged out
everywhere."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("users", sa.Column("log_outs", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "ended_sessions",
        sa.Column("id", sa.String(40), primary_key=True),
        sa.Column("user_id", sa.String(50), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
    )
    op.create_index("ended_sessions_by_user", "ended_sessions", ["user_id"])
