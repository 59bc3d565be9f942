"""Artifacts and their versions."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "artifacts",
        sa.Column("conversation_id", sa.String(length=150), nullable=False),
        sa.Column("id", sa.String(length=100), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("content_type", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["conversation_id"], ["conversations.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("conversation_id", "id"),
    )
    op.create_table(
        "artifact_versions",
        sa.Column("conversation_id", sa.String(length=150), nullable=False),
        sa.Column("artifact_id", sa.String(length=100), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("update_type", sa.String(length=20), nullable=False),
        sa.Column("changes", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("turn_id", sa.String(length=40), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id", "artifact_id"],
            ["artifacts.conversation_id", "artifacts.id"],
            name="artifact_versions_of",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", "artifact_id", "version"),
    )
