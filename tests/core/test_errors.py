"""The one error tree."""

import re
from http import HTTPStatus

import pytest

from caesura.core import errors
from caesura.core.errors import CaesuraError


def _below(kind: type[CaesuraError]) -> list[type[CaesuraError]]:
    own = [child for child in kind.__subclasses__() if child.__module__ == errors.__name__]
    return [kind, *(found for child in own for found in _below(child))]


ALL = _below(CaesuraError)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_error_has_a_status_a_code_and_a_default_message(kind: type[CaesuraError]) -> None:
    error = kind()
    assert error.status in {status.value for status in HTTPStatus if status >= 400}
    assert re.fullmatch("[a-z_]+", error.code)
    assert kind.__dict__["__doc__"].strip() == error.message == str(error)
    assert "\n" not in error.message


def test_every_error_has_a_code_of_its_own_or_that_of_its_kind() -> None:
    own = [kind.code for kind in ALL if "code" in vars(kind)]
    assert len(set(own)) == len(own)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_error_may_say_more_than_its_default(kind: type[CaesuraError]) -> None:
    error = kind(message="in particular this")
    assert str(error) == error.message == "in particular this"


def test_the_tree_at_the_top_of_the_file_is_the_tree_in_the_code() -> None:
    path: list[str] = []
    drawn = {}
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"([│├└─ ]*)([A-Z]\w+Error\b|[A-Z]\w+)(?: +(\d{3})|$)", line):
            depth = len(found[1]) // 4
            path[depth:] = [found[2]]
            drawn[found[2]] = (path[depth - 1] if depth else None, found[3])
    real = {
        kind.__name__: (kind.__base__.__name__, str(kind.status))
        if kind is not CaesuraError
        else (None, None)
        for kind in ALL
        if kind.__base__
    }
    assert drawn == real


def test_errors_carry_what_a_client_needs() -> None:
    assert errors.InterruptPending(("one", "two")).interrupts == ("one", "two")
    assert errors.AlreadyAnswered({"decision": "approve"}).decision == {"decision": "approve"}
    assert errors.TooManyRequests(30).retry_after == 30
    assert errors.Unavailable("full", retry_after=5).retry_after == 5
    assert errors.Unavailable().retry_after == 1
