"""How much of what can be tried is tried: all of it with CAESURA_TESTS_THOROUGH=1, otherwise a sample.

A sample contains the first, the last and one of each kind. A change that breaks one kind of case is found in
every run.
"""

import os
from collections.abc import Hashable, Sequence


def thorough() -> bool:
    return os.environ.get("CAESURA_TESTS_THOROUGH") == "1"


def examples(usual: int, all_of_them: int) -> int:
    """How many random cases are tried."""
    return all_of_them if thorough() else usual


def sample(kinds: Sequence[Hashable], step: int) -> list[int]:
    """Which of some cases are tried, given the kind of each: the first and the last, the first of each kind,
    and every `step`-th."""
    every = range(len(kinds))
    if thorough():
        return list(every)
    firsts = {kind: place for place, kind in reversed([*enumerate(kinds)])}
    return sorted({*every[:1], *every[-1:], *every[::step], *firsts.values()})
