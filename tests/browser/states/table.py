"""The states, in the order in which they were drawn."""

from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import NamedTuple

from tests import effort
from tests.browser.sheet import DRAWN as DESIGN
from tests.browser.states import asks, documents, door, lost, talk
from tests.browser.states.stage import Stage

Reach = Callable[[Stage], Awaitable[None]]


class State(NamedTuple):
    name: str
    reach: Reach
    #: What brings a phone there, where that is another way.
    narrow: Reach | None


_DRAWN = (
    *(door.sign_in, door.sign_in_wrong, door.register, lost.sign_in_again),
    *(door.first_visit, door.connect_model, door.new),
    *(talk.tools, talk.streaming, talk.done, talk.branches, talk.editing, talk.agent_picker),
    *(talk.row_menu, talk.delete, talk.settings, talk.loading),
    *(asks.approval_command, asks.approval_edit, asks.approval_refuse, asks.approval_file),
    *(asks.approvals_several, asks.waits_above, asks.questions, asks.confirmation),
    *(asks.answered_elsewhere, asks.expired, asks.inbox, door.inbox_empty),
    *(lost.connection_lost, lost.connection_back, lost.away, lost.stopped, lost.failed),
    *(documents.artifact, documents.artifact_live),
    *(documents.artifact_side_by_side, documents.artifact_inline, talk.drawer),
)
#: Drawn in words only, or not at all.
_ALSO = (
    *(door.register_invite, talk.rename, talk.shortcuts, talk.missing),
    *(asks.respond, asks.file_changed, asks.graph, asks.grants, lost.unknown),
    *(lost.leaving, lost.storage_down),
    *(documents.source, documents.csv, documents.mermaid, documents.html, documents.listed),
)
#: They are in the sidebar, which is a drawer on a phone.
_ASIDE = frozenset({talk.row_menu, talk.rename, talk.settings})


def named(*states: Reach) -> tuple[State, ...]:
    return tuple(State(_name(reach), reach, reach if reach in _ASIDE else None) for reach in states)


def reached(*files: ModuleType) -> list[State]:
    """The states that these files reach."""
    names = {file.__name__ for file in files}
    return [state for state in (*DRAWN, *ALSO) if state.reach.__module__ in names]


def seen(look: str) -> frozenset[str]:
    """The states that are looked at in another way than light and in a large window: those that are drawn so,
    and a sample of the others. All are, if the tests are thorough."""
    states = (*DRAWN, *ALSO)
    tried = effort.sample([(state.reach.__module__, state.narrow is None) for state in states], 20)
    names = [state.name for state in states]
    drawn = {name for name in names if (DESIGN / f"{look}-{name}.webp").exists()}
    return frozenset(drawn).union(names[place] for place in tried)


def _name(reach: Reach) -> str:
    return getattr(reach, "__name__", "").replace("_", "-")


DRAWN, ALSO = named(*_DRAWN), named(*_ALSO)
