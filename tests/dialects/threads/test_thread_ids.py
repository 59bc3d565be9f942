"""The ids of threads."""

import re

from caesura.dialects.threads import thread_ids


def test_a_thread_id_is_its_owner_and_a_uuid() -> None:
    made = thread_ids.make("alice-b")
    assert re.fullmatch(r"alice-b-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made)
    assert thread_ids.names(made, "alice-b")
    assert not thread_ids.names(made, "bob")


def test_the_thread_of_the_longest_name_fits_its_column() -> None:
    assert len(thread_ids.make("a" * 50)) <= 150
