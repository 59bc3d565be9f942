"""The requests that the native API accepts."""

from typing import Any

import pytest
from pydantic import ValidationError

from caesura.dialects.native import requests

MANY: dict[str, Any] = {f"k{number}": 1 for number in range(50_000)}


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (requests.NewConversation, MANY),
        (requests.NewTurn, {"content": "x"} | MANY),
        (requests.NewAnswer, {"decision": "answers", "answers": [1] * 50_000}),
        (requests.NewAnswers, {"answers": MANY}),
        (requests.NewAnswers, {"answers": {"x": {"decision": "approve"} | MANY}}),
    ],
)
def test_a_body_full_of_faults_makes_one_error(model: type[requests._In], given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as found:
        model.model_validate(given)
    assert found.value.error_count() == 1


def test_the_largest_allowed_number_of_answers_is_accepted() -> None:
    answers = {f"int-{number}": {"decision": "approve"} for number in range(100)}
    assert len(requests.NewAnswers.model_validate({"answers": answers}).answers) == 100
