"""Models that are built on first use."""

import pytest
from pydantic import BaseModel, ValidationError

from caesura.cli.late_models import built_late


def test_a_model_is_built_on_first_use_and_checks_as_usual() -> None:
    with built_late():

        class Late(BaseModel):
            count: int

    before = Late.__pydantic_complete__
    assert Late(count=2).count == 2
    assert (before, Late.__pydantic_complete__) == (False, True)
    with pytest.raises(ValidationError):
        Late.model_validate({"count": "two"})


def test_models_that_are_defined_later_are_built_at_once() -> None:
    with built_late():
        pass

    class Usual(BaseModel):
        count: int

    assert Usual.__pydantic_complete__
