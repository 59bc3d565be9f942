"""The one error tree. The service raises these; each dialect decides how to say them.

CaesuraError
├── BadInput                400
│   ├── BadAnswer           400  an answer that does not fit its interrupt
│   ├── UsernameTaken       400
│   ├── BadUsername         400
│   └── BadPassword         400
├── Unauthenticated         401
│   └── Revoked             401  a token or session that its owner has ended before its time
├── Forbidden               403
│   ├── RegistrationClosed  403
│   └── BadInvite           403  none, or one that is not valid
├── NotFound                404
│   └── NoConversation      404  or another's, which looks the same
├── Conflict                409
│   ├── RunInProgress       409
│   ├── InterruptPending    409  carries what waits
│   ├── NothingPending      409
│   ├── Outdated            409  made from a version that is no longer the current one
│   ├── AgentChanged        409  a turn that the agent as it is here cannot go on with, or no such agent here
│   └── AlreadyAnswered     409  carries the winner's decision
├── LengthRequired          411  an upload that does not say how long it is
├── TooLarge                413
│   ├── TooManyConversations 413  of one person
│   ├── StorageFull         413  of one person
│   └── WorkspacesFull      413  of one person; told to the model too
├── KeyReused               422
├── TooManyRequests         429  carries retry_after
│   ├── TooManyRuns         429  of one person
│   ├── TooManyQuestions    429  of one person; waiting alone does not help
│   └── TooMuchUnread       429  of one person
├── Unavailable             503  carries retry_after
├── Fenced                  500  a run that lost its lease; never reaches a client
├── StopRequested           500  a run that asks a question after its stop; never reaches a client
├── Unwritable              500  rows of a run that no database takes; never reaches a client
├── CodecError              500  stored bytes that cannot be read
│   └── UnknownVersion      500
└── StartupError            500  a fault that stops the start, said in one line
"""

from __future__ import annotations

from typing import Any, ClassVar


class CaesuraError(Exception):
    """Something went wrong"""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"

    def __init__(self, message: str | None = None) -> None:
        self.message = message or (type(self).__doc__ or "").strip()
        super().__init__(self.message)


class BadInput(CaesuraError):
    """The request is not valid"""

    status = 400
    code = "bad_input"


class BadAnswer(BadInput):
    """The answer does not fit what was asked"""

    code = "bad_answer"


class UsernameTaken(BadInput):
    """Username already registered"""

    code = "username_taken"


class BadUsername(BadInput):
    """Not a name that a person may have"""

    code = "bad_username"


class BadPassword(BadInput):
    """Not a password that a person may have"""

    code = "bad_password"


class Unauthenticated(CaesuraError):
    """Not authenticated"""

    status = 401
    code = "unauthenticated"


class Revoked(Unauthenticated):
    """The session was ended"""

    code = "revoked"


class Forbidden(CaesuraError):
    """Not allowed"""

    status = 403
    code = "forbidden"


class RegistrationClosed(Forbidden):
    """registration is closed: ask whoever runs this server to add you"""

    code = "registration_closed"


class BadInvite(Forbidden):
    """an invite is needed to register: ask whoever runs this server for a code"""

    code = "bad_invite"


class NotFound(CaesuraError):
    """Not found"""

    status = 404
    code = "not_found"


class NoConversation(NotFound):
    """conversation not found"""


class Conflict(CaesuraError):
    """The state does not allow this"""

    status = 409
    code = "conflict"


class RunInProgress(Conflict):
    """run in progress"""

    code = "run_in_progress"


class InterruptPending(Conflict):
    """an interrupt is pending"""

    code = "interrupt_pending"

    def __init__(self, interrupts: tuple[Any, ...] = (), message: str | None = None) -> None:
        super().__init__(message)
        self.interrupts = interrupts


class NothingPending(Conflict):
    """nothing is pending"""

    code = "nothing_pending"


class Outdated(Conflict):
    """It has changed meanwhile"""

    code = "outdated"


class AlreadyAnswered(Conflict):
    """already answered"""

    code = "already_answered"

    def __init__(self, decision: dict[str, Any] | None = None, message: str | None = None) -> None:
        super().__init__(message)
        self.decision = decision


class AgentChanged(Conflict):
    """The agent has changed"""

    code = "agent_changed"


class LengthRequired(CaesuraError):
    """An upload needs a Content-Length"""

    status = 411
    code = "length_required"


class TooLarge(CaesuraError):
    """The body is too large"""

    status = 413
    code = "too_large"


class TooManyConversations(TooLarge):
    """Too many conversations: delete some"""

    code = "too_many_conversations"


class StorageFull(TooLarge):
    """Too much is stored: delete conversations"""

    code = "storage_full"


class WorkspacesFull(TooLarge):
    """The workspaces of a person are full"""

    code = "workspaces_full"


class KeyReused(CaesuraError):
    """This Idempotency-Key was used with another body"""

    status = 422
    code = "key_reused"


class TooManyRequests(CaesuraError):
    """Too many requests"""

    status = 429
    code = "too_many_requests"

    def __init__(self, retry_after: int = 1, message: str | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyRuns(TooManyRequests):
    """Too many runs at once: wait for one to end, or stop one"""

    code = "too_many_runs"


class TooManyQuestions(TooManyRequests):
    """Too many questions wait: answer some, or stop their turns"""

    code = "too_many_questions"

    def __init__(self, retry_after: int = 0, message: str | None = None) -> None:
        super().__init__(retry_after, message)


class TooMuchUnread(TooManyRequests):
    """Too many large answers wait to be read: read them first"""

    code = "too_much_unread"


class Unavailable(CaesuraError):
    """Storage is not available"""

    status = 503
    code = "unavailable"

    def __init__(self, message: str | None = None, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Fenced(CaesuraError):
    """This run was taken over by another owner"""

    code = "fenced"


class StopRequested(CaesuraError):
    """This turn was asked to stop"""

    code = "stop_requested"

    def __init__(self, reason: str = "user", message: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class Unwritable(CaesuraError):
    """What goes with an event cannot be written"""

    code = "unwritable"


class CodecError(CaesuraError):
    """Stored data cannot be read"""

    code = "codec"


class UnknownVersion(CodecError):
    """Stored data has a version this program does not know"""

    code = "unknown_version"


class StartupError(CaesuraError):
    """Caesura cannot start"""

    code = "startup"
