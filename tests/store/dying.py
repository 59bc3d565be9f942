"""Opens a database repeatedly, each time killed one DDL statement later, until it succeeds.

Run as `python -m tests.store.dying URL`. For each kill it prints the tables that were left behind, then
`through`.
"""

import asyncio
import json
import os
import signal
import sys
from itertools import count
from typing import Any

from sqlalchemy import Engine, create_engine, event, inspect

from caesura.store.open import open_database


def main(url: str) -> None:
    for limit in count(1):
        child = os.fork()
        if child == 0:
            _open(url, limit)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            break
        print(json.dumps(_tables(url)), flush=True)
    print("through" if status == 0 else f"failed with {status}", flush=True)


def _open(url: str, limit: int) -> None:
    left = limit

    def count_down(_: Any, __: Any, statement: str, *rest: Any) -> None:
        nonlocal left
        if statement.lstrip().startswith(("CREATE", "ALTER", "DROP", "INSERT", "UPDATE")):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "after_cursor_execute", count_down)

    async def open_and_close() -> None:
        await (await open_database(url)).close()

    asyncio.run(open_and_close())


def _tables(url: str) -> list[str]:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    names = inspect(engine).get_table_names()
    engine.dispose()
    return names


if __name__ == "__main__":
    main(sys.argv[1])
