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


def test_a_model_that_is_to_be_built_explicitly_is_built_on_first_use_too() -> None:
    with built_late():

        class Tree(BaseModel):
            parts: "list[Tree]" = []

        Tree.model_rebuild()
    before = Tree.__pydantic_complete__
    assert Tree.model_validate({"parts": [{}]}).parts == [Tree()]
    assert (before, Tree.__pydantic_complete__) == (False, True)


def test_a_model_may_be_used_before_all_are_defined() -> None:
    with built_late():

        class Early(BaseModel):
            count: int

        assert Early(count=1).count == 1
