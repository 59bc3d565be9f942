"""How a run can fail: each says what a client may know, and keeps what only the log may."""

from __future__ import annotations

from caesura.core.errors import CaesuraError


class RunFailed(CaesuraError):
    """The turn failed"""

    code = "failed"
    retryable = False

    def __init__(self, message: str | None = None, *, cause: BaseException | None = None) -> None:
        super().__init__(message)
        self.cause = cause


class ModelFailed(RunFailed):
    """The model failed"""

    code = "model"
    retryable = True

    def __init__(
        self, message: str | None = None, *, cause: BaseException | None = None, model: str = ""
    ) -> None:
        """`model` is the last one that was asked, for the log."""
        super().__init__(message, cause=cause)
        self.model = model


class StepLimit(RunFailed):
    """The agent did not come to an end"""

    code = "steps"
    retryable = True


class LogLimit(RunFailed):
    """The turn said too much"""

    code = "turn_bytes"


class StateLimit(RunFailed):
    """The state of the graph is too large"""

    code = "state_bytes"


class QuestionLimit(RunFailed):
    """The agent asked too much at once"""

    code = "questions"


class NotStored(RunFailed):
    """What the turn did could not be stored"""

    code = "unwritable"


class TimeLimit(RunFailed):
    """The turn took too long"""

    code = "timeout"
    retryable = True


class GraphChanged(RunFailed):
    """The agent's graph has changed, and cannot go on where this turn was: try again to start it anew"""

    code = "agent_changed"
    retryable = True
