"""People whom another service vouches for, roles, and the tokens that people have used."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    op.add_column("users", sa.Column("role", sa.String(10), nullable=False, server_default="member"))
    op.add_column("users", sa.Column("issuer", sa.String(500)))
    op.add_column("users", sa.Column("subject", sa.String(255)))
    op.add_column("users", sa.Column("signed_out_at", sa.BigInteger(), nullable=False, server_default="0"))
    for name in ("past_turns", "past_input_tokens", "past_output_tokens"):
        op.add_column("users", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    op.create_index("users_by_subject", "users", ["issuer", "subject"], unique=True)
    for name in ("input_tokens", "output_tokens"):
        op.add_column("conversations", sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
