"""The operator's own tools in an agent's file: what is loaded, and every fault with its place and remedy."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import caesura
from caesura.agents import versions
from caesura.agents.context import RunContext
from caesura.agents.loader import Catalog, check
from caesura.agents.tools.registry import standard
from caesura.agents.tools.tool import Result, Tool
from tests import agent_files

STANDARD = standard()


def put(folder: Path, tools: str, code: str, more: str = "") -> Catalog:
    folder.joinpath("orders.py").write_text(dedent(code))
    agent_files.put(folder, "a", f"tools: [{tools}]\n{more}")
    return Catalog(folder, STANDARD.names, builtin=None, interval=0)


def tools_of(catalog: Catalog) -> dict[str, Tool]:
    agent = catalog.get("a")
    return {tool.name: tool for tool in STANDARD.tools_of(agent.spec, agent.own)}


def faults(folder: Path, tools: str, code: str, more: str = "") -> list[str]:
    put(folder, tools, code, more)
    return [str(fault) for fault in check(folder, STANDARD.names)]


def test_defaults_are_told_if_they_stay_the_same_when_they_are_given(tmp_path: Path) -> None:
    code = '''
        import enum
        import caesura
        from pydantic import Field

        class Colour(enum.Enum):
            RED = "red"

        @caesura.tool(describe=lambda amount, colour: f"{amount} {colour}")
        def pay(
            order: str,
            amount: int = 5,
            colour: Colour = Colour.RED,
            odd: int = None,
            parts: list[int] = Field(default_factory=list),
            many: int = Field(default=3, ge=1),
        ) -> str:
            """Pay."""
            return ""
    '''
    pay = tools_of(put(tmp_path, "orders:pay", code))["pay"]
    assert pay.filled({"order": "A1", "many": 4}) == {"order": "A1", "amount": 5, "colour": "red", "many": 4}
    assert pay.describe(pay.filled({"order": "A1"}), "en").description == "5 red"
    assert pay.fault(pay.filled({"order": "A1"})) is None


CODE = '''
    from __future__ import annotations

    import enum
    from dataclasses import dataclass
    from typing import Annotated, Literal, Optional

    import caesura
    from pydantic import BaseModel, Field

    class Colour(enum.Enum):
        RED = "red"
        BLUE = "blue"

    class Item(BaseModel):
        name: str = Field(description="What it is")

    @dataclass
    class Place:
        street: str

    @caesura.tool(permission="auto", repeatable=True, timeout=5)
    async def find(
        ctx: caesura.Context,
        number: Annotated[str, "Its number"],
        colour: Colour = Colour.RED,
        how: Literal["air", "sea"] = "sea",
        item: Optional[Item] = None,
        places: list[Place] = [],
        copy: Annotated[int, Field(description="How many", ge=1)] = 1,
        _hidden: bool = False,
        note: str = "",
    ) -> str:
        """Find an order.

        It may take a while.

        Args:
            note: What to note,
                in words.
            number (str): is not used, as the annotation says more.

        Returns:
            The order.
        """
        return number

    def plain() -> str:
        return "plain"
'''


def test_a_signature_and_a_docstring_are_the_schema(tmp_path: Path) -> None:
    found = tools_of(put(tmp_path, "read_file, orders:find, orders:plain", CODE))
    assert list(found) == ["read_file", "find", "plain"]
    schema = found["find"].schema
    assert schema.description == "Find an order.\n\nIt may take a while.\n\nReturns:\n    The order."
    assert schema.parameters == {
        "type": "object",
        "additionalProperties": False,
        "required": ["number"],
        "properties": {
            "number": {"type": "string", "description": "Its number"},
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "how": {"type": "string", "enum": ["air", "sea"], "default": "sea"},
            "item": {
                "default": None,
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"name": {"type": "string", "description": "What it is"}},
                        "required": ["name"],
                    },
                    {"type": "null"},
                ],
            },
            "places": {
                "type": "array",
                "default": [],
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"street": {"type": "string"}},
                    "required": ["street"],
                },
            },
            "copy": {"type": "integer", "minimum": 1, "default": 1, "description": "How many"},
            "_hidden": {"type": "boolean", "default": False},
            "note": {"type": "string", "default": "", "description": "What to note, in words."},
        },
    }


def test_the_decorator_says_the_rest_and_without_it_the_safe_choice_counts(tmp_path: Path) -> None:
    found = tools_of(put(tmp_path, "orders:find, orders:plain", CODE))
    find, plain = found["find"], found["plain"]
    assert (find.permission, find.repeatable, find.timeout) == ("auto", True, 5)
    assert (plain.permission, plain.repeatable, plain.timeout) == ("confirm", False, None)
    assert plain.schema.description == "plain"


def test_a_decorated_function_stays_a_plain_function() -> None:
    @caesura.tool
    def one(number: int) -> int:
        return number + 1

    @caesura.tool(permission="auto", label="Two")
    def two(number: int) -> int:
        return number + 2

    assert (one(1), two(1)) == (2, 3)


def test_an_earlier_version_has_the_tools_that_the_agent_still_has(tmp_path: Path) -> None:
    agent = put(tmp_path, "orders:plain", CODE).get("a")
    data = versions.dump(agent)
    assert versions.load(data, STANDARD.names, agent).spec.tools == ["orders:plain"]
    agent_files.put(tmp_path, "a", "tools: [read_file]")
    now = Catalog(tmp_path, STANDARD.names, builtin=None).get("a")
    assert versions.load(data, STANDARD.names, now).spec.tools == []


def test_what_a_tool_says_about_itself_is_part_of_the_version(tmp_path: Path) -> None:
    code = "import caesura\n@caesura.tool(permission='{}')\ndef plain(one: str) -> str: ..."
    found = []
    for permission in ("auto", "confirm", "confirm"):
        agent_files.forget()
        found.append(put(tmp_path, "orders:plain", code.format(permission)).get("a"))
    assert [agent.spec.permission("plain") for agent in found] == ["auto", "confirm", "confirm"]
    assert found[0].version != found[1].version == found[2].version


def test_a_tool_of_an_installed_package_is_found(tmp_path: Path) -> None:
    code = "def unused() -> None: ..."
    assert list(tools_of(put(tmp_path, "tests.agents.test_own:installed", code))) == ["installed"]


def installed(text: str) -> str:
    return text


def test_a_changed_file_is_loaded_by_the_next_process_and_makes_no_other_version(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    catalog = put(tmp_path, "orders:plain", "def plain(one: str) -> str: ...")
    before = catalog.get("a").version
    tmp_path.joinpath("orders.py").write_text("def plain(two: str) -> str: ...")
    for _ in range(2):
        assert list(tools_of(catalog)["plain"].schema.parameters["properties"]) == ["one"]
    assert caplog.messages == ["orders.py has changed: restart the server to use it"]
    agent_files.forget()
    again = Catalog(tmp_path, STANDARD.names, builtin=None)
    assert list(tools_of(again)["plain"].schema.parameters["properties"]) == ["two"]
    assert again.get("a").version == before


def test_a_fault_leaves_other_agents_alone_and_goes_with_the_fault(tmp_path: Path) -> None:
    agent_files.put(tmp_path, "good", "tools: [read_file]")
    catalog = put(tmp_path, "orders:plain", "def plain(: ...")
    assert [agent.name for agent in catalog.agents()] == ["good"]
    tmp_path.joinpath("orders.py").write_text("def plain() -> str: ...")
    assert [agent.name for agent in catalog.agents()] == ["a", "good"]
    assert catalog.faults == ()


WRONG: dict[str, tuple[str, str, str]] = {
    "no such function": (
        "orders:fnd",
        "def find() -> str: ...",
        "a.yaml:5: spec.tools[0]: orders has no attribute fnd: did you mean find? (name a function in a",
    ),
    "no such module": ("order:find", "", "a.yaml:5: spec.tools[0]: order failed: ModuleNotFoundError"),
    "a file": (
        "orders.py:find",
        "",
        "a.yaml:5: spec.tools[0]: orders.py:find names a file, not a module (leave",
    ),
    "a neighbour": (
        "orders:find",
        "import again",
        "orders.py:1: orders.py imports again.py, a file next to it, which is not possible (code",
    ),
    "a relative neighbour": (
        "orders:find",
        "\nfrom .again import find",
        "orders.py:2: orders.py has a relative import, of a file next to it, which is not possible (code",
    ),
    "no type of the context": (
        "orders:find",
        "def find(context) -> str: ...",
        "orders.py:1: find: the parameter context has no type (write its type, for example context: "
        "caesura.Context)",
    ),
    "a type of the file": (
        "orders:find",
        "class Odd: ...\ndef find(one: Odd) -> str: ...",
        "orders.py:2: find: the parameter one has the type orders.Odd, which no JSON schema can say",
    ),
    "no target": ("'orders:'", "", "a.yaml:5: spec.tools[0]: 'orders:' is not of the form module:function"),
    "syntax": (
        "orders:find",
        "x = 1\ndef find(:\n    ...",
        "orders.py:2: orders.py failed: SyntaxError",
    ),
    "import": ("orders:find", "\nimport nowhere", "orders.py:2: orders.py failed: ModuleNotFoundError"),
    "no type": (
        "orders:find",
        "def find(\n    one: str,\n    two,\n) -> str: ...",
        "orders.py:3: find: the parameter two has no type (write its type, for example two: str)",
    ),
    "no type under a decorator": (
        "orders:find",
        "import caesura\n@caesura.tool(\n  label='x')\ndef find(one: str,\n    two,\n) -> str:\n    ...",
        "orders.py:5: find: the parameter two has no type",
    ),
    "types that fail": (
        "orders:find",
        """
        class Odd:
            @classmethod
            def __get_pydantic_core_schema__(cls, source, handler):
                raise KeyError("odd")

        def find(one: Odd) -> str: ...
        """,
        "a.yaml:5: spec.tools[0]: orders:find: cannot be a tool: KeyError: 'odd' (correct its types)",
    ),
    "no schema": (
        "orders:find",
        "import socket\ndef find(one: socket.socket) -> str: ...",
        "orders.py:2: find: the parameter one has the type socket.socket, which no JSON schema can say (use",
    ),
    "unknown type": (
        "orders:find",
        "def find(one: 'Nowhere') -> str: ...",
        "orders.py:1: find: a type cannot be found: name 'Nowhere' is not defined (import or define",
    ),
    "args": (
        "orders:find",
        "def find(*many: str) -> str: ...",
        "orders.py:1: find: the parameter many takes any number of arguments (name each parameter",
    ),
    "kwargs": (
        "orders:find",
        "def find(**many: str) -> str: ...",
        "orders.py:1: find: the parameter many takes any arguments (name each parameter",
    ),
    "positional": (
        "orders:find",
        "def find(one: str, /) -> str: ...",
        "orders.py:1: find: the parameter one is positional only (remove the / from the parameters)",
    ),
    "generator": ("orders:find", "def find():\n    yield 1", "orders.py:1: find: yields pieces (return the"),
    "a class": ("orders:Find", "class Find: ...", "a.yaml:5: spec.tools[0]: orders:Find: is a class, not a"),
    "a value": (
        "orders:FIND",
        "FIND = 3",
        "a.yaml:5: spec.tools[0]: orders:FIND: is a value of type int, not",
    ),
    "wrong option": (
        "orders:find",
        "import caesura\n@caesura.tool(permission='maybe')\ndef find() -> str: ...",
        "orders.py:2: orders.py failed: ValueError: permission must be 'auto' or 'confirm', not",
    ),
    "unknown option": (
        "orders:find",
        "import caesura\n@caesura.tool(permision='auto')\ndef find() -> str: ...",
        "orders.py:2: orders.py failed: TypeError: tool() got an unexpected keyword argument",
    ),
    "wrong timeout": (
        "orders:find",
        "import caesura\n@caesura.tool(timeout=-1)\ndef find() -> str: ...",
        "orders.py:2: orders.py failed: ValueError: timeout must be seconds, above 0",
    ),
    "wrong describe": (
        "orders:find",
        "import caesura\n@caesura.tool(describe='Find {one}')\ndef find(two: str) -> str: ...",
        "orders.py:3: find: describe names {one}, which is no parameter (known: two)",
    ),
    "two of one name": (
        "orders:find, again:find",
        "def find() -> str: ...",
        "a.yaml:5: spec.tools[1]: the name find is already that of orders:find (rename the function)",
    ),
    "a built-in name": (
        "orders:execute",
        "def execute() -> str: ...",
        "a.yaml:5: spec.tools[0]: the name execute is already that of a built-in tool or a sub-agent (rename",
    ),
    "a refused name": (
        "orders:find_查找",
        "def find_查找() -> str: ...",
        "orders.py:1: find_查找: the name find_查找 is refused by providers (use at most 64 letters",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_is_told_with_its_place_and_a_remedy(tmp_path: Path, name: str) -> None:
    tools, code, told = WRONG[name]
    tmp_path.joinpath("again.py").write_text(dedent(code))
    [fault] = faults(tmp_path, tools, code)
    assert fault.startswith(told)
    assert fault.endswith(")")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer Pythons tell what pydantic needs to know")
def test_a_typed_dict_of_typing_is_told_with_its_remedy(tmp_path: Path) -> None:
    code = (
        "from typing import TypedDict\nclass Item(TypedDict):\n    n: int\ndef find(item: Item) -> str: ..."
    )
    [fault] = faults(tmp_path, "orders:find", code)
    assert fault.startswith("orders.py:4: find: the parameter item has a TypedDict of typing")
    assert fault.endswith("(write: from typing_extensions import TypedDict)")


def test_an_own_tool_cannot_have_the_name_of_a_tool_of_an_mcp_server(tmp_path: Path) -> None:
    servers = "mcp_servers: [{name: shop, url: 'http://127.0.0.1:1'}]"
    [fault] = faults(tmp_path, "orders:shop__find", "def shop__find() -> str: ...", servers)
    assert "the name shop__find is already that of a tool of an MCP server" in fault


def test_a_fault_that_two_agents_share_is_told_once(tmp_path: Path) -> None:
    agent_files.put(tmp_path, "b", "tools: [orders:find]")
    assert len(faults(tmp_path, "orders:find", "def find(one): ...")) == 1


def test_a_fault_of_a_file_is_told_once_for_all_its_tools(tmp_path: Path) -> None:
    (fault,) = put(tmp_path, "'orders:one', 'orders:two'", "def one(: ...").faults
    assert (fault.file, fault.line, fault.field) == ("orders.py", 1, "")


def test_a_context_may_be_left_out_by_those_who_call_the_function_themselves(tmp_path: Path) -> None:
    code = "import caesura\ndef find(one: str, context: caesura.Context | None = None) -> str: ..."
    assert list(tools_of(put(tmp_path, "orders:find", code))["find"].schema.parameters["properties"]) == [
        "one"
    ]


def test_permissions_may_name_an_own_tool_by_its_name_or_as_the_list_does(tmp_path: Path) -> None:
    code = "def one() -> str: ...\ndef two() -> str: ...\ndef three() -> str: ..."
    tools = "orders:one, orders:two, orders:three"
    said = "permissions: {one: auto, 'orders:two': deny, two: auto}\ninterrupt_on: {'orders:three': false}"
    catalog = put(tmp_path, tools, code, said)
    assert catalog.faults == ()
    spec = catalog.get("a").spec
    assert [spec.permission(name, "confirm") for name in ("one", "two", "three")] == ["auto", "deny", "auto"]
    assert list(tools_of(catalog)) == ["one", "three"]
    [fault] = faults(tmp_path, tools, code, "permissions: {for: auto}")
    assert "unknown tool: for" in fault


async def test_a_tool_of_langchain_is_a_tool_too(tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    code = '''
        import caesura
        from langchain_core.tools import tool

        @caesura.tool(permission="auto", repeatable=True)
        @tool
        def shout(text: str) -> str:
            """Say it louder."""
            return text.upper()

        @tool
        def whisper(text: str) -> str:
            """Say it softly."""
            return text.lower()
    '''
    found = tools_of(put(tmp_path, "orders:shout, orders:whisper", code))
    assert found["shout"].schema.description == "Say it louder."
    assert list(found["shout"].schema.parameters["properties"]) == ["text"]
    assert (found["shout"].permission, found["shout"].repeatable) == ("auto", True)
    assert (found["whisper"].permission, found["whisper"].repeatable) == ("confirm", False)
    run = RunContext("conv", "turn", "alice", "a", "en", tmp_path, tool_call_id="c1")
    with run.active():
        assert await found["shout"].run({"text": "hey"}) == Result("HEY")
        assert (await found["shout"].run({"txt": "hey"})).status == "error"


def test_a_tool_of_langchain_that_cannot_be_read_is_a_fault_of_its_agent_alone(tmp_path: Path) -> None:
    pytest.importorskip("langchain_core")
    code = """
        from langchain_core.tools import StructuredTool

        class Bad(StructuredTool):
            @property
            def tool_call_schema(self):
                raise SystemExit("no schema today")

        bad = Bad.from_function(lambda text: text, name="bad", description="Bad.")
    """
    catalog = put(tmp_path, "orders:bad", code)
    agent_files.put(tmp_path, "b", "tools: [read_file]\n")
    [fault] = [str(fault) for fault in check(tmp_path, STANDARD.names)]
    assert fault.startswith("a.yaml:")
    assert "orders:bad: cannot be a tool: SystemExit: no schema today (" in fault
    catalog = Catalog(tmp_path, STANDARD.names, builtin=None, interval=0)
    assert [agent.name for agent in catalog.agents()] == ["b"]


def test_a_tool_of_langchain_is_read_once(tmp_path: Path) -> None:
    """Not again when a turn begins, where a fault would be told to nobody who can mend it."""
    pytest.importorskip("langchain_core")
    code = """
        from pathlib import Path
        from langchain_core.tools import StructuredTool

        class Moody(StructuredTool):
            @property
            def tool_call_schema(self):
                if Path(__file__).with_name("later").exists():
                    raise RuntimeError("not again")
                return super().tool_call_schema

        moody = Moody.from_function(lambda text: text, name="moody", description="Moody.")
    """
    catalog = put(tmp_path, "orders:moody", code)
    assert not catalog.faults
    tmp_path.joinpath("later").touch()
    assert tools_of(catalog)["moody"].schema.description == "Moody."


@pytest.mark.parametrize(
    ("describe", "args", "told"),
    [
        ("'Find {number}'", {"number": "A1"}, "Find A1"),
        ("'Find {number}'", {}, "Find –"),
        ("'Find {number:d}'", {"number": "A1"}, 'Using tool: find {"number":"A1"}'),
        ("lambda number: 'Find ' + number", {"number": "A1"}, "Find A1"),
        ("lambda args: 'Find ' + args['number']", {"number": "A1"}, "Find A1"),
        ("lambda args, language: language", {"number": "A1"}, "en"),
        ("lambda args: 1 / 0", {"number": "A1"}, 'Using tool: find {"number":"A1"}'),
        ("lambda args: 7", {"number": "A1"}, 'Using tool: find {"number":"A1"}'),
        ("lambda args: exit(3)", {"number": "A1"}, 'Using tool: find {"number":"A1"}'),
        (
            "lambda args: (_ for _ in ()).throw(KeyboardInterrupt)",
            {"number": "A1"},
            'Using tool: find {"number":"A1"}',
        ),
        ("lambda args: type('T', (str,), {'strip': exit, '__str__': exit})('Find')", {}, "Find"),
    ],
)
def test_a_call_is_described_as_the_operator_says_or_in_the_usual_way(
    tmp_path: Path, describe: str, args: dict[str, Any], told: str
) -> None:
    code = f"import caesura\n@caesura.tool(label='Look', describe={describe})\ndef find(number: str): ..."
    tool = tools_of(put(tmp_path, "orders:find", code))["find"]
    assert tool.describe(args, "en")[:2] == ("Look", told)


@pytest.mark.parametrize("describe", ["'Find {number}'", "lambda number: 'Find ' + number"])
def test_a_description_that_the_model_makes_long_is_cut_and_begins_with_its_length(
    tmp_path: Path, describe: str
) -> None:
    code = f"import caesura\n@caesura.tool(describe={describe})\ndef find(number: str): ..."
    tool = tools_of(put(tmp_path, "orders:find", code))["find"]
    _, description, note = tool.describe({"number": "\u202e" * 5 + "x" * 199_990}, "en")
    assert note.startswith("(200,000 characters; only the first 1,")
    assert " are shown here) Find \\u202e{5}xxx" in note
    assert note.endswith("xxx…")
    assert len(note) < 2100
    assert description.startswith("(200,000 characters; only the first 65,")
    assert len(description) < 65_700
    assert tool.describe({"number": "x" * 1990}, "zh").note == "Find " + "x" * 1990
    assert tool.describe({"number": "x" * 3000}, "zh").note.startswith(
        "（3005 个字符；这里只显示前 2000 个）Find xxx"
    )


@pytest.mark.parametrize(
    "code",
    [
        "raise BaseException('no')",
        "raise GeneratorExit",
        "import asyncio\nraise asyncio.CancelledError",
        "class E(Exception):\n    def __str__(self): exit(3)\nraise E",
        "def __getattr__(name): exit(3)",
        dedent("""
            class Evil:
                @classmethod
                def __get_pydantic_core_schema__(cls, source, handler): exit(3)
            def find(a: Evil): ...
        """),
    ],
)
def test_whatever_the_code_of_a_tool_raises_is_a_fault_of_its_file(tmp_path: Path, code: str) -> None:
    assert len(faults(tmp_path, "orders:find", code)) == 1


def test_a_failed_load_does_not_end_the_watching_of_the_folder(tmp_path: Path) -> None:
    tmp_path.joinpath("orders.py").write_text("def find(): ...")
    agent_files.put(tmp_path, "a", "tools: [orders:find]")
    catalog = Catalog(tmp_path, STANDARD.names, builtin=None, interval=0.01)
    catalog.watch()
    try:
        for error in ("KeyboardInterrupt", "BaseException", "SystemExit"):
            tmp_path.joinpath(f"{error}.py").write_text(f"raise {error}\n")
            agent_files.put(tmp_path, "a", f"tools: ['{error}:find']")
            _until(lambda: bool(catalog.faults))
            tmp_path.joinpath(f"{error}.py").write_text(f"def find():\n    'After {error}.'")
            _until(lambda: not catalog.faults)
    finally:
        catalog.close()


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)
