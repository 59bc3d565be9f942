"""A sample leaves out no kind of case."""

import pytest

from tests import effort


@pytest.fixture(autouse=True)
def _usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAESURA_TESTS_THOROUGH", raising=False)


def test_a_sample_has_the_first_the_last_and_one_of_each_kind() -> None:
    assert effort.sample("aaaaaabaac", 100) == [0, 6, 9]
    assert effort.sample("aaaaaaaaaa", 4) == [0, 4, 8, 9]
    assert effort.sample("", 4) == []


def test_a_thorough_run_tries_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_TESTS_THOROUGH", "1")
    assert effort.sample("aaaa", 2) == [0, 1, 2, 3]
    assert effort.examples(1, 5) == 5
