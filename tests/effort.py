"""How often what is tried at random is tried: more often with CAESURA_TESTS_THOROUGH=1."""

import os


def examples(usual: int, thorough: int) -> int:
    return thorough if os.environ.get("CAESURA_TESTS_THOROUGH") == "1" else usual
