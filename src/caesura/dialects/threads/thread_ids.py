"""Thread ids: the owner's name and a UUID, as this API promises. Nobody's access depends on an id's form."""

from __future__ import annotations

from uuid import uuid4


def make(user_id: str) -> str:
    return f"{user_id}-{uuid4()}"


def names(thread_id: str, user_id: str) -> bool:
    """Whether the id begins with this person's name."""
    return thread_id.startswith(f"{user_id}-")
