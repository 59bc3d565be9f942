"""Every scenario is folded to the expected messages. The page's own fold is tested with the same files."""

from __future__ import annotations

import orjson
import pytest

from caesura.core import fold, messages
from tests.scenarios import scenario
from tests.scenarios.scenario import Scenario


@pytest.mark.parametrize("situation", scenario.load(), ids=lambda item: item.name)
def test_a_log_is_folded_to_the_expected_messages(situation: Scenario) -> None:
    transcript = fold.fold(item.event for item in situation.log)
    found = [messages.to_dict(message) for message in transcript.messages()]
    assert orjson.loads(orjson.dumps(found)) == situation.transcript
    assert transcript.artifacts == situation.artifacts
