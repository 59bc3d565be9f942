"""The current tables. Their history is in `migrations/`; a test checks that both agree.

Times are integers: milliseconds since 1970, UTC, by the database's own clock. JSON is kept as bytes, so
that any text a model can say (NUL included) can be stored on either backend.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    ForeignKeyConstraint,
    FromClause,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    and_,
    literal_column,
    or_,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

metadata = MetaData()

#: A number assigned by the database: SQLite needs INTEGER, and PostgreSQL's should not run out.
_Number = BigInteger().with_variant(Integer, "sqlite")


class now_ms(FunctionElement[int]):
    """The database's clock, in milliseconds: the only clock that all nodes share."""

    type = BigInteger()
    inherit_cache = True


@compiles(now_ms, "sqlite")
def _now_sqlite(element: Any, compiler: Any, **kw: Any) -> str:
    return "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"


@compiles(now_ms, "postgresql")
def _now_postgresql(element: Any, compiler: Any, **kw: Any) -> str:
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"


class place_of(FunctionElement[int]):
    """Where a text has this part, counted from 1; 0 if it has it nowhere. For a long part of a long text LIKE
    takes a hundred times as long."""

    type = Integer()
    inherit_cache = True


@compiles(place_of, "sqlite")
def _place_sqlite(element: Any, compiler: Any, **kw: Any) -> str:
    return f"instr({compiler.process(element.clauses, **kw)})"


@compiles(place_of, "postgresql")
def _place_postgresql(element: Any, compiler: Any, **kw: Any) -> str:
    return f"strpos({compiler.process(element.clauses, **kw)})"


#: Owns what is being deleted. It is no valid name, so nobody logs in by it.
NOBODY = ""

users = Table(
    "users",
    metadata,
    Column("id", String(50), primary_key=True),
    Column("password_hash", Text, nullable=False),
    Column("conversation_count", Integer, nullable=False, server_default="0"),
    Column("created_at", BigInteger, nullable=False),
    Column("log_outs", Integer, nullable=False, server_default="0"),
    Column("role", String(10), nullable=False, server_default="member"),
    # Whom the person is to another service that vouches for them.
    Column("issuer", String(500)),
    Column("subject", String(255)),
    # Tokens of that service that were issued before are refused.
    Column("signed_out_at", BigInteger, nullable=False, server_default="0"),
    # What was used in conversations that are deleted.
    Column("past_turns", BigInteger, nullable=False, server_default="0"),
    Column("past_input_tokens", BigInteger, nullable=False, server_default="0"),
    Column("past_output_tokens", BigInteger, nullable=False, server_default="0"),
    Index("users_by_subject", "issuer", "subject", unique=True),
)

#: Sessions of browsers that were ended before their time, kept until that time.
ended_sessions = Table(
    "ended_sessions",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("user_id", String(50), ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("until", BigInteger, nullable=False),
    Index("ended_sessions_by_user", "user_id"),
)

invites = Table(
    "invites",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("id", String(8), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(150), primary_key=True),
    Column("user_id", String(50), ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("agent", String(100), nullable=False),
    Column("title", String(200)),
    Column("session", String(200)),
    Column("active_turn", String(40)),
    Column("turn_count", Integer, nullable=False, server_default="0"),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("stored", BigInteger, nullable=False, server_default="0"),
    Column("input_tokens", BigInteger, nullable=False, server_default="0"),
    Column("output_tokens", BigInteger, nullable=False, server_default="0"),
    Index("conversations_by_creation", "user_id", "created_at", "id"),
    Index("conversations_by_update", "user_id", "updated_at", "id"),
    Index("conversations_by_session", "user_id", "agent", "session", unique=True),
    Index("conversations_stored", "user_id", "stored"),
)

turns = Table(
    "turns",
    metadata,
    Column("num", _Number, primary_key=True, autoincrement=True),
    Column("id", String(40), nullable=False, unique=True),
    Column(
        "conversation_id", String(150), ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False
    ),
    Column("user_id", String(50), nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("parent_id", String(40)),
    Column("agent", String(100), nullable=False),
    Column("status", String(10), nullable=False),
    Column("owner", String(40)),
    Column("lease_until", BigInteger),
    Column("epoch", Integer, nullable=False, server_default="0"),
    Column("segment", Integer, nullable=False, server_default="0"),
    Column("segment_seq", Integer, nullable=False, server_default="0"),
    Column("stop_requested", String(12)),
    Column("on_disconnect", String(10), nullable=False, server_default="continue"),
    Column("running_ms", BigInteger, nullable=False, server_default="0"),
    Column("waits_until", BigInteger),
    Column("message_count", Integer, nullable=False, server_default="0"),
    Column("content", LargeBinary, nullable=False),
    Column("messages", LargeBinary),
    Column("grants", LargeBinary),
    Column("created_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("size", BigInteger, nullable=False, server_default="0"),
    Column("about", LargeBinary),
    Column("branch", String(40)),
    Column("states", LargeBinary),
    CheckConstraint(
        "status IN ('queued', 'running', 'waiting', 'done', 'failed', 'stopped')", name="turns_status"
    ),
    Index("turns_by_conversation", "conversation_id", "ordinal", unique=True),
    sqlite_autoincrement=True,
)


def live(table: FromClause) -> ColumnElement[bool]:
    """The turns that have not ended."""
    return table.c.status.in_([literal_column(f"'{name}'") for name in ("queued", "running", "waiting")])


def running(table: FromClause) -> ColumnElement[bool]:
    """The turns that run or are about to. The text must equal the condition of their index."""
    # Literals: SQLite does not match a bound value with the condition of an index.
    return table.c.status.in_([literal_column(f"'{name}'") for name in ("queued", "running")])


#: The queued turns. The text must equal the condition of their index.
QUEUED = turns.c.status == literal_column("'queued'")

events = Table(
    "events",
    metadata,
    Column("turn", _Number, primary_key=True, autoincrement=False),
    Column("first", Integer, primary_key=True, autoincrement=False),
    Column("last", Integer, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("version", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

interrupts = Table(
    "interrupts",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("turn", _Number, ForeignKey("turns.num", ondelete="CASCADE"), nullable=False),
    Column("user_id", String(50), nullable=False),
    Column("graph_id", String(100), nullable=False),
    Column("status", String(10), nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("answer", LargeBinary),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("closed_at", BigInteger),
    Column("shown_to", Text),
    CheckConstraint(
        "status IN ('pending', 'answered', 'expired', 'superseded', 'cancelled')", name="interrupts_status"
    ),
    Index("interrupts_by_turn", "turn"),
)


def waits(table: FromClause) -> ColumnElement[bool]:
    """The interrupts that wait for a person. The text must equal the condition of their index."""
    in_time = or_(table.c.expires_at.is_(None), table.c.expires_at > now_ms())
    return and_(table.c.status == literal_column("'pending'"), in_time)


tool_calls = Table(
    "tool_calls",
    metadata,
    Column("turn", _Number, ForeignKey("turns.num", ondelete="CASCADE"), primary_key=True),
    Column("id", String(200), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("args", LargeBinary, nullable=False),
    Column("status", String(10), nullable=False),
    Column("output", LargeBinary),
    Column("begun_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Column("place", String(64)),
    CheckConstraint("status IN ('begun', 'ended')", name="tool_calls_status"),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("turn", _Number, ForeignKey("turns.num", ondelete="CASCADE"), primary_key=True),
    Column("ns", Text, primary_key=True),
    Column("id", String(100), primary_key=True),
    Column("parent_id", String(100)),
    Column("type", String(20), nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("metadata", LargeBinary, nullable=False),
    Column("place", Integer, nullable=False, server_default="0"),
)

checkpoint_writes = Table(
    "checkpoint_writes",
    metadata,
    Column("turn", _Number, ForeignKey("turns.num", ondelete="CASCADE"), primary_key=True),
    Column("ns", Text, primary_key=True),
    Column("checkpoint_id", String(100), primary_key=True),
    Column("task_id", String(100), primary_key=True),
    Column("idx", Integer, primary_key=True, autoincrement=False),
    Column("path", Text, nullable=False, server_default=""),
    Column("channel", Text, nullable=False),
    Column("type", String(20), nullable=False),
    Column("body", LargeBinary, nullable=False),
)

#: The state that an operator's own graph had when a turn of it ended, for the turns that follow.
graph_states = Table(
    "graph_states",
    metadata,
    Column("turn", _Number, ForeignKey("turns.num", ondelete="CASCADE"), primary_key=True),
    Column("ns", Text, primary_key=True),
    Column("channel", Text, primary_key=True),
    Column("type", String(20), nullable=False),
    Column("body", LargeBinary, nullable=False),
)

#: What the feed of each person tells. The rows of one person are numbered in the order of their commits.
changes = Table(
    "changes",
    metadata,
    Column("user_id", String(50), primary_key=True),
    Column("seq", _Number, primary_key=True, autoincrement=False),
    Column("kind", String(12), nullable=False),
    Column("conversation_id", String(150), nullable=False),
    Column("ref", String(40), nullable=False, server_default=""),
    Column("body", LargeBinary),
    Column("at", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

#: Turns that are read on nodes that do not run them, each with the time until which that holds.
readings = Table(
    "readings",
    metadata,
    Column("turn", _Number, ForeignKey("turns.num", ondelete="CASCADE"), primary_key=True),
    Column("until", BigInteger, nullable=False),
)

#: What the files said of agents that turns have begun with.
agent_versions = Table(
    "agent_versions",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("version", String(64), primary_key=True),
    Column("body", LargeBinary, nullable=False),
    Column("kept_at", BigInteger, nullable=False),
)

#: Up to where each conversation was read, on whichever device.
read_marks = Table(
    "read_marks",
    metadata,
    Column(
        "conversation_id", String(150), ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("turn_id", String(40), nullable=False),
    Column("cursor", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
)

#: What was said on a branch up to and including a turn, for models whose window takes no more.
summaries = Table(
    "summaries",
    metadata,
    Column(
        "conversation_id", String(150), ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("turn_id", String(40), primary_key=True),
    Column("text", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

keys = Table(
    "keys",
    metadata,
    Column("user_id", String(50), ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("conversation_id", String(150), ForeignKey("conversations.id", ondelete="CASCADE"), nullable=True),
    Column("response", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index("keys_by_age", "created_at"),
    Index("keys_by_conversation", "conversation_id"),
)

artifacts = Table(
    "artifacts",
    metadata,
    Column(
        "conversation_id", String(150), ForeignKey("conversations.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("id", String(100), primary_key=True),
    Column("title", Text, nullable=False),
    Column("content_type", String(100), nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

artifact_versions = Table(
    "artifact_versions",
    metadata,
    Column("conversation_id", String(150), primary_key=True),
    Column("artifact_id", String(100), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("update_type", String(20), nullable=False),
    Column("changes", LargeBinary, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("turn_id", String(40)),
    Column("created_at", BigInteger, nullable=False),
    Column("whole", Integer),
    ForeignKeyConstraint(
        ["conversation_id", "artifact_id"],
        ["artifacts.conversation_id", "artifacts.id"],
        ondelete="CASCADE",
        name="artifact_versions_of",
    ),
)
