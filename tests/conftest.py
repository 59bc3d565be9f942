"""Fixtures every test may ask for."""

import gc
import os
import shutil
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from contextlib import closing
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import certifi
import pytest
import pytest_asyncio
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings

from caesura.agents import document
from caesura.agents.tools import artifacts
from caesura.http import page
from caesura.store.database import Database
from caesura.store.open import open_database
from tests import effort, programs
from tests.servers import Missing, Postgres, Redis
from tests.servers.databases import Databases
from tests.servers.server import MEMORY, ROOM
from tests.tables import Tables, sqlite_file

S = TypeVar("S", Postgres, Redis)

# A slow machine is not a failure.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

#: Tests that go through every place where something can happen. They take longest, and begin first.
ENUMERATIONS = (
    "tests/browser/test_asking_states.py",
    "tests/browser/test_states.py",
    "tests/chaos/",
    "tests/hostile/",
)
#: Tests that wait most of the time. They begin first of all, beside the checks, which need the processors.
WAITING = (
    "tests/hostile/",
    "tests/api/test_crowds.py",
    "tests/api/test_serve.py",
    "tests/api/test_silence.py",
    "tests/cli/test_terminal.py",
    "tests/client/test_team.py",
    "tests/mcp/test_faults.py",
)
#: Tests of what does the same on both databases. PostgreSQL takes three times as long: it gets a sample of
#: each file. The conformance tests compare the databases, and run whole on both.
SAMPLED = ("tests/api/", "tests/engine/", "tests/service/")
#: Files of these that get no sample: what several servers do at once, and what a database refuses.
WHOLE = (
    "tests/api/test_feed.py",
    "tests/api/test_shares.py",
    "tests/engine/test_approvals.py",
    "tests/engine/test_cancellation.py",
    "tests/engine/test_effects.py",
    "tests/engine/test_hand_over.py",
    "tests/engine/test_stops.py",
    "tests/engine/test_stops_elsewhere.py",
    "tests/engine/test_supervisor.py",
    "tests/engine/test_unwritable.py",
)
#: Tests that start many processes, wait long or generate many requests.
SLOW = (
    "tests/browser/test_graph_questions.py",
    "tests/browser/test_proxies.py",
    *ENUMERATIONS,
    "tests/agents/demo/test_model.py",
    "tests/agents/demo/test_pauses.py",
    "tests/agents/tools/test_bounds.py",
    "tests/agents/tools/test_own_steps.py",
    "tests/agents/tools/test_sandbox.py",
    "tests/agents/tools/test_seccomp.py",
    "tests/agents/tools/test_workspace.py",
    "tests/agents/tools/web/",
    "tests/api/artifactflow/test_cancel.py",
    "tests/api/artifactflow/test_crashes.py",
    "tests/api/artifactflow/test_node.py",
    "tests/api/artifactflow/test_page.py",
    "tests/api/artifactflow/test_power_loss.py",
    "tests/api/artifactflow/test_regressions.py",
    "tests/api/artifactflow/test_showings.py",
    "tests/api/artifactflow/test_streams.py",
    "tests/api/artifactflow/test_two_nodes.py",
    "tests/api/superagent/test_at_once.py",
    "tests/api/superagent/test_crashes.py",
    "tests/api/superagent/test_node.py",
    "tests/api/superagent/test_page.py",
    "tests/api/superagent/test_streams.py",
    "tests/api/test_authorization.py",
    "tests/api/test_crowds.py",
    "tests/api/test_default_executor.py",
    "tests/api/test_deletion.py",
    "tests/api/test_disk_share.py",
    "tests/api/test_document.py",
    "tests/api/test_edges.py",
    "tests/api/test_feed.py",
    "tests/api/test_grants.py",
    "tests/api/test_graph_reviews.py",
    "tests/api/test_light_start.py",
    "tests/api/test_memory.py",
    "tests/api/test_nodes.py",
    "tests/api/test_pages.py",
    "tests/api/test_patience.py",
    "tests/api/test_pauses.py",
    "tests/api/test_registration.py",
    "tests/api/test_research.py",
    "tests/api/test_serve.py",
    "tests/api/test_shares.py",
    "tests/api/test_silence.py",
    "tests/api/test_stops.py",
    "tests/api/test_stops_elsewhere.py",
    "tests/api/test_streams.py",
    "tests/api/test_void_cursors.py",
    "tests/api/test_unread.py",
    "tests/api/test_vouchers.py",
    "tests/api/test_web.py",
    "tests/api/test_write_approvals.py",
    "tests/api/threads/test_approvals.py",
    "tests/api/threads/test_crashes.py",
    "tests/api/threads/test_leaving.py",
    "tests/api/threads/test_node.py",
    "tests/api/threads/test_page.py",
    "tests/api/threads/test_rejoining.py",
    "tests/api/threads/test_sessions.py",
    "tests/api/threads/test_slow_storage.py",
    "tests/api/threads/test_two_nodes.py",
    "tests/browser/",
    "tests/cli/test_chat.py",
    "tests/cli/test_doctor.py",
    "tests/cli/test_first_agent.py",
    "tests/cli/test_help.py",
    "tests/cli/test_models.py",
    "tests/cli/test_people.py",
    "tests/cli/test_removal.py",
    "tests/cli/test_roster.py",
    "tests/cli/test_streams.py",
    "tests/cli/test_terminal.py",
    "tests/cli/test_walk.py",
    "tests/client/test_breaks.py",
    "tests/client/test_client.py",
    "tests/client/test_faults.py",
    "tests/client/test_power_loss.py",
    "tests/client/test_team.py",
    "tests/conformance/test_log_model.py",
    "tests/conformance/test_log_windows.py",
    "tests/conformance/test_store_model.py",
    "tests/core/test_codec.py",
    "tests/core/test_diffs.py",
    "tests/dialects/superagent/test_encode.py",
    "tests/engine/test_cancellation.py",
    "tests/engine/test_confirmations.py",
    "tests/engine/test_effects.py",
    "tests/engine/test_graph_states.py",
    "tests/engine/test_graph_tools.py",
    "tests/engine/test_graph_sub_agents.py",
    "tests/engine/test_hand_over.py",
    "tests/engine/test_limits.py",
    "tests/engine/test_own_tools.py",
    "tests/engine/test_pauses.py",
    "tests/engine/test_reviewed_graphs.py",
    "tests/engine/test_supervisor.py",
    "tests/engine/test_titles.py",
    "tests/engine/test_unwritable.py",
    "tests/engine/test_valid_history.py",
    "tests/engine/test_views.py",
    "tests/engine/test_windows.py",
    "tests/graphs/",
    "tests/http/test_sse.py",
    "tests/log/test_cost.py",
    "tests/log/test_nodes.py",
    "tests/mcp/",
    "tests/servers/",
    "tests/store/test_migrate.py",
    "tests/store/test_silence.py",
    "tests/store/test_sqlite.py",
    "tests/test_packaging.py",
)


def pytest_configure() -> None:
    """The tests' folders are in memory, where that is large: a commit of SQLite waits for a disk, and all
    workers for each other's commits. No test here pulls the plug of the machine."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 * ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A slow file that no test is wanted of is not even imported."""
    if config.getoption("markexpr", "").startswith("not slow"):
        place = collection_path.relative_to(config.rootpath).as_posix()
        return place.startswith(SLOW) or f"{place}/" in SLOW or None
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """All that is imported for the tests stays: it is not searched for garbage, neither now nor later. A
    server does the same at its start."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 50)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """No two tests have one name: of those, workers would run one.

    Files that take long come first, so that in the end no worker waits long for another.
    """
    names = Counter(item.nodeid for item in items)
    if twice := [name for name, count in names.items() if count > 1]:
        raise pytest.UsageError(f"several tests have one name: {', '.join(twice)}")
    left = _left_out(items)
    config.hook.pytest_deselected(items=list(left.values()))
    items[:] = [item for item in items if item.nodeid not in left]
    items.sort(
        key=lambda item: [not item.nodeid.startswith(first) for first in (WAITING, ENUMERATIONS, SLOW)]
    )
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")
        if _needs_server(item):
            item.add_marker("server")


def _left_out(items: Iterable[pytest.Item]) -> dict[str, pytest.Item]:
    """Tests that only a thorough run has: on PostgreSQL five of six of most files above the store."""
    files = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if item.nodeid.startswith(SAMPLED) and not item.nodeid.startswith(WHOLE) and _on_postgres(item):
            files[item.nodeid.partition("::")[0]].append(item)
    left: dict[str, pytest.Item] = {}
    for file, tests in files.items():
        tried = effort.sample([file] * len(tests), 12)
        left |= {test.nodeid: test for place, test in enumerate(tests) if place not in tried}
    return left


def _on_postgres(item: pytest.Item) -> bool:
    chosen = getattr(item, "callspec", None)
    return chosen is not None and "postgresql" in chosen.params.values()


def _needs_server(item: pytest.Item) -> bool:
    return _on_postgres(item) or not {"postgres", "redis"}.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.fixture(scope="session", autouse=True)
def _one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test speaks TLS, but every HTTP client reads all authorities there are: 40 ms for each client."""
    end = "-----END CERTIFICATE-----\n"
    first, _, _ = Path(certifi.where()).read_text().partition(end)
    path = tmp_path_factory.mktemp("authorities") / "one.pem"
    path.write_text(first + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifi, "where", lambda: str(path))
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture(scope="session", autouse=True)
def _cheap_passwords() -> Iterator[None]:
    """A hash of a password takes a tenth of a second on purpose. Server processes of tests still take it."""
    cheap = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("argon2.PasswordHasher", cheap)
        yield


@pytest.fixture(scope="session", autouse=True)
def _agent_files_parsed_once() -> Iterator[None]:
    """Every server and every engine reads the built-in agents: 30 ms each time."""
    once = cache(document.parse)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "parse", lambda data: deepcopy(once(data)))
        yield


@pytest.fixture(scope="session", autouse=True)
def _page_and_tools_made_once() -> Iterator[None]:
    """Every server reads the files of the page, and makes the tools that need nothing of it."""
    read, made = cache(page.read), cache(artifacts.tools)
    unchanged = page.read
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page, "read", lambda folder: (read if folder == page.BUILT else unchanged)(folder))
        patch.setattr(artifacts, "tools", lambda: list(made()))
        yield


@pytest.fixture(scope="module")
def frozen_collector() -> None:
    """Let the garbage collector search nothing that is there now: no other test, and nothing of pytest."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL of this worker's own."""
    with _served(Postgres) as server:
        yield server


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    """A Redis of this worker's own."""
    with _served(Redis) as server:
        yield server


@pytest.fixture(scope="session")
def _databases(postgres: Postgres) -> Iterator[Databases]:
    with Databases(postgres) as databases:
        yield databases


@pytest.fixture
def postgres_urls(postgres: Postgres, _databases: Databases) -> Iterator[Callable[[], str]]:
    """Empty databases, as many as are asked for."""
    _revive(postgres)
    taken: list[str] = []

    def take() -> str:
        taken.append(_databases.take())
        return postgres.database_url(taken[-1])

    yield take
    for name in taken:
        _databases.give_back(name)


@pytest.fixture
def postgres_url(postgres_urls: Callable[[], str]) -> str:
    """An empty database."""
    return postgres_urls()


@pytest.fixture(scope="session")
def _postgres_tables(postgres: Postgres) -> Iterator[Tables]:
    with closing(Tables(postgres.create_database("tables"))) as tables:
        yield tables


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a database with empty tables is, on each backend in turn."""
    if request.param == "sqlite":
        (tmp_path / "caesura.db").write_bytes(sqlite_file())
        return f"sqlite:///{tmp_path}/caesura.db"
    _revive(request.getfixturevalue("postgres"))
    tables: Tables = request.getfixturevalue("_postgres_tables")
    tables.empty()
    return tables.url


@pytest.fixture(params=["sqlite", "postgresql"])
def bare_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a database without tables is, on each backend in turn."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/caesura.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest_asyncio.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    """A fresh database of this program's schema."""
    database = await open_database(database_url)
    yield database
    await database.close()


@pytest.fixture
def redis_url(redis: Redis) -> str:
    """An empty Redis."""
    _revive(redis)
    redis.flush()
    return redis.url


def _served(kind: type[S]) -> S:
    try:
        return kind.start()
    except Missing as error:
        if programs.required():
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


def _revive(server: Postgres | Redis) -> None:
    """A test may have left the server dead."""
    if not server.running:
        server.restart()
