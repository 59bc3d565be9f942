"""The JSON schema of an agent file, for editors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from caesura.agents.loader import BUILTIN, schema

SCHEMA = schema()
CHECK = jsonschema_rs.validator_for(SCHEMA)
PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")
EXAMPLES = [part.split("```")[0] for part in PAGE.split("```yaml\n")[1:]]


def file(metadata: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "caesura/v1", "kind": "Agent", "metadata": metadata or {"name": "a"}, "spec": spec}


def members() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for place, model in [("", SCHEMA), *SCHEMA["$defs"].items()]:
        for name, found in model["properties"].items():
            yield place, name, found


def test_the_schema_says_which_schema_language_it_is_in() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(SCHEMA)


def test_every_object_and_every_field_has_a_title_and_a_description() -> None:
    models = [SCHEMA, *SCHEMA["$defs"].values()]
    assert [model for model in models if not (model.get("title") and model.get("description"))] == []
    for place, name, found in members():
        assert found.get("description"), (place, name)
        reference = found.get("$ref", "").removeprefix("#/$defs/")
        assert found.get("title") or SCHEMA["$defs"][reference]["title"], (place, name)


@pytest.mark.parametrize("path", sorted(BUILTIN.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_files_that_ship_fit(path: Path) -> None:
    CHECK.validate(yaml.safe_load(path.read_text("utf-8")))


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_of_the_page_fit(text: str) -> None:
    CHECK.validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    "good",
    [
        file({"name": "a", "version": 1.0}),
        file(interrupt_on=["execute"]),
        file(interrupt_on={"execute": True}),
        file(model={"class": "own:Echo", "options": {"times": 2}}),
        file(model={"temperature": None}),
    ],
)
def test_what_a_file_may_say_fits(good: dict[str, Any]) -> None:
    CHECK.validate(good)


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"apiVersion": "caesura/v1", "kind": "Agent"},
        file() | {"kind": "Robot"},
        file() | {"colour": "red"},
        file({"name": "No Name"}),
        file(colour="red"),
        file(tools="execute"),
        file(permissions={"execute": "maybe"}),
        file(interrupt={"timeout_seconds": 0}),
        file(interrupt={"checkpoint_backend": "disk"}),
        file(interrupt={"fields": [{"type": "text"}]}),
        file(model={"temperature": 3}),
        file(model={"base_url": "file:///etc/passwd"}),
        file(interrupt_on={"execute": "yes"}),
    ],
)
def test_what_a_file_may_not_say_does_not_fit(bad: dict[str, Any]) -> None:
    assert not CHECK.is_valid(bad)
