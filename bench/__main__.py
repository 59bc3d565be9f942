"""Each module of this package with a `run` is a subject."""

import argparse
import importlib
import pkgutil
import time
from collections.abc import Callable, Iterator

import bench
from bench.measure import Table

Subject = Callable[[bool], Iterator[Table]]


def subjects() -> dict[str, Subject]:
    names = sorted(module.name for module in pkgutil.iter_modules(bench.__path__))
    modules = {name: importlib.import_module(f"bench.{name}") for name in names if name != "__main__"}
    return {name: module.run for name, module in modules.items() if hasattr(module, "run")}


def main() -> None:
    known = subjects()
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure, beside a baseline.")
    parser.add_argument("subject", nargs="*", help=f"one of: {', '.join(known)}; all when left out")
    parser.add_argument("--quick", action="store_true", help="smaller, for a first look")
    options = parser.parse_args()
    for name in options.subject or known:
        if name not in known:
            parser.error(f"no such subject: {name}")
        began = time.perf_counter()
        for table in known[name](options.quick):
            print(table, flush=True)
        print(f"({name}: {time.perf_counter() - began:.0f} s)\n", flush=True)


if __name__ == "__main__":
    main()
