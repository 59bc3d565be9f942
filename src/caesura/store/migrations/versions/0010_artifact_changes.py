"""A version of an artifact may be stored as a change of the version before it. `whole` is the version whose
whole copy it is made from. The versions of older releases have none: each is a whole copy."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("artifact_versions", sa.Column("whole", sa.Integer(), nullable=True))
