"""What an operator's function may offer as an option of a question."""

from typing import Any

import pytest

from caesura.agents.tools.own import call


@pytest.mark.parametrize("option", [3, 2.5, None, ("a", "b", "c"), ("a",)], ids=str)
def test_an_option_that_is_none_is_told_in_words(option: Any) -> None:
    with pytest.raises(TypeError, match=r"ask: an option is a text, a pair of .*, not \w+"):
        call._offered(option)
