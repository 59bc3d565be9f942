"""The statements that this process sends to its databases, by SQLAlchemy or straight to PostgreSQL. What goes
straight to SQLite is not among them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

from caesura.store.wire import Wire

_FRAMES = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


def listen(heard: Callable[[Wire, str], None]) -> Callable[[], None]:
    """Call `heard` before each statement that goes straight to PostgreSQL, until the result is called."""
    send = Wire._send

    def note(wire: Wire, transformer: Any, text: str, values: Any) -> None:
        heard(wire, text)
        send(wire, transformer, text, values)

    def stop() -> None:
        setattr(Wire, "_send", send)  # noqa: B010 - the type checker would refuse it

    setattr(Wire, "_send", note)  # noqa: B010
    return stop


@contextmanager
def statements() -> Iterator[list[str]]:
    """Those that are sent meanwhile, without those that begin and end transactions."""
    found: list[str] = []

    def heard(_: Any, text: str) -> None:
        if not text.startswith(_FRAMES):
            found.append(text)

    def saw(connection: Any, cursor: Any, text: str, *_: Any) -> None:
        heard(connection, text)

    event.listen(Engine, "before_cursor_execute", saw)
    stop = listen(heard)
    try:
        yield found
    finally:
        stop()
        event.remove(Engine, "before_cursor_execute", saw)
