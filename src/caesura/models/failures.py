"""How a call of a model can fail."""

from __future__ import annotations

from typing import Literal

#: What went wrong: the provider refuses the key (`key`), does not have the model (`missing`), refuses the
#: request (`request`), finds the history too long (`context`), has too much to do (`busy`), failed itself
#: (`provider`), cannot be reached (`connection`), broke off its reply (`broken`), or says nothing (`silent`).
Kind = Literal["key", "missing", "request", "context", "busy", "provider", "connection", "broken", "silent"]
_TRANSIENT = frozenset(("busy", "provider", "connection", "broken", "silent"))


class ModelError(Exception):
    """The message is for the server's log. It holds no key."""

    def __init__(
        self,
        kind: Kind,
        message: str,
        *,
        retry_after: float | None = None,
        context_tokens: int | None = None,
    ) -> None:
        """`retry_after` are the seconds for which the provider wants to be left alone. `context_tokens` is
        the size of the model's window, if the provider names it when a history is too long."""
        super().__init__(message)
        self.kind: Kind = kind
        self.retry_after = retry_after
        self.context_tokens = context_tokens

    @property
    def transient(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self.kind in _TRANSIENT


class Unusable(Exception):
    """A model cannot be set up. The message is for the operator, and names the remedy. It holds no key."""
