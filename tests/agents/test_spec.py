"""The YAML model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from caesura.agents import phrases
from caesura.agents.spec import AgentFile, FormField, Interrupt, Model, Spec
from caesura.core.interrupts import Field

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")


def file(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "superagent/v1", "kind": "Agent", "metadata": {"name": "a"}, "spec": spec}


def test_the_smallest_file_has_every_default() -> None:
    spec = AgentFile.model_validate(file()).spec
    assert spec.type == "chat_model_agent"
    assert spec.model.primary == "default"
    assert spec.tools is None
    assert spec.interrupt.timeout_seconds == 300
    assert not spec.interrupt.enabled
    assert spec.approvals.timeout_seconds is None
    assert spec.interrupt.checkpoint_backend == "memory"


def test_permissions_override_interrupt_on_which_overrides_the_tool() -> None:
    spec = Spec(permissions={"execute": "auto"}, interrupt_on=["execute", "read_file"])
    assert spec.permission("execute", "confirm") == "auto"
    assert spec.permission("read_file", "auto") == "confirm"
    assert spec.permission("write_file", "confirm") == "confirm"


def test_interrupt_on_as_a_mapping_can_also_switch_off() -> None:
    spec = Spec(interrupt_on={"write_file": False, "read_file": True})
    assert spec.permission("write_file", "confirm") == "auto"
    assert spec.permission("read_file", "auto") == "confirm"


def test_the_default_form_is_one_required_confirm_in_the_persons_language() -> None:
    assert Interrupt().form("zh") == (Field("confirm", "confirm", "确认", required=True),)
    assert Interrupt().form("en")[0].label == "Confirm"


def test_an_operators_form_is_used_as_written() -> None:
    form = Interrupt(
        fields=[FormField(name="why", label="Why?"), FormField(name="how", type="select", options=["a"])]
    )
    assert form.form("en") == (Field("why", "text", "Why?"), Field("how", "select", "how", options=("a",)))


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "langgraph"},
        {"graph": "flow:graph"},
        {"model": {"primary": "demo", "class": "pkg.mod:Model"}},
        {"model": {"class": "not a target"}},
        {"model": {"base_url": "file:///etc/passwd"}},
        {"model": {"temperature": 3}},
        {"interrupt": {"timeout_seconds": 0}},
        {"approvals": {"timeout_seconds": 0}},
        {"interrupt": {"checkpoint_backend": "disk"}},
        {"interrupt": {"fields": [{"name": "a", "type": "select"}]}},
        {"interrupt": {"fields": [{"name": "a", "options": ["x"]}]}},
        {"interrupt": {"fields": [{"name": "a"}, {"name": "a"}]}},
        {"permissions": {"execute": "maybe"}},
        {"limits": {"max_steps": 0}},
        {"memory": {"backend": "other"}},
        {"colour": "red"},
    ],
)
def test_what_does_not_fit_is_refused(spec: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AgentFile.model_validate(file(**spec))


@pytest.mark.parametrize("name", ["", "-a", "_a", "A", "a b", "a/b", "../a", "ä", "a\n", "a" * 101])
def test_bad_names_are_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        AgentFile.model_validate(file() | {"metadata": {"name": name}})


@pytest.mark.parametrize("name", ["a", "0", "a-b_c", "lead_agent"])
def test_good_names_are_taken(name: str) -> None:
    assert AgentFile.model_validate(file() | {"metadata": {"name": name}}).metadata.name == name


def test_a_version_without_quotes_is_taken_as_a_text() -> None:
    metadata = {"name": "a", "version": 1.0}
    assert AgentFile.model_validate(file() | {"metadata": metadata}).metadata.version == "1.0"


def test_the_field_for_the_class_is_named_class() -> None:
    assert Model.model_validate({"class": "pkg.mod:Model"}).class_ == "pkg.mod:Model"


def test_the_example_of_the_page_is_a_good_file() -> None:
    example = PAGE.split("```yaml\n")[1].split("```")[0]
    assert AgentFile.model_validate(yaml.safe_load(example)).spec.sub_agents[0].ref == "assistant"


def test_the_page_names_every_field() -> None:
    for name, field in Spec.model_fields.items():
        inner = getattr(field.annotation, "model_fields", {})
        for path in [f"{name}.{part.alias or key}" for key, part in inner.items()] or [name]:
            assert f"`{path}`" in PAGE, path


def test_the_page_names_every_phrase() -> None:
    assert [phrase for phrase in phrases.DEFAULTS if f"`{phrase}`" not in PAGE] == []
