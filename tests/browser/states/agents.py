"""The agents of the states: all of them answer with the demo model."""

from pathlib import Path

from tests import agent_files, graph_files

_TOOLS = """
tools: [list_files, read_file, write_file, execute, web_fetch, ask_user, create_artifact, update_artifact,
  rewrite_artifact, read_artifact]
"""
_LEAD = (
    """
model: {primary: demo, options: {delay: 0.01}}
permissions: {web_fetch: confirm}
sub_agents: [{ref: search_agent, description: Searches.}]
approvals: {timeout_seconds: 300}
"""
    + _TOOLS
)
_HASTY = (
    """
model: {primary: demo, options: {delay: 0}}
approvals: {timeout_seconds: 1}
"""
    + _TOOLS
)
_FREE = (
    """
model: {primary: demo, options: {delay: 0}}
permissions: {write_file: auto, execute: auto, web_fetch: confirm}
sub_agents: [{ref: search_agent, description: Searches.}]
"""
    + _TOOLS
)
_CAREFUL = "model: {primary: demo, options: {delay: 0}}" + _TOOLS
_RELEASE = """
model: {primary: demo, options: {delay: 0, think: false}}
interrupt:
  enabled: true
  timeout_seconds: 55
  fields:
    - {name: go, type: confirm, label: Deploy v2.0 to production, required: true}
    - {name: when, type: select, label: When, options: [Now, Tonight]}
    - {name: note, type: text, label: Note for the change log}
"""
_SEARCH = """
model: {primary: demo, options: {delay: 0.05, think: false}}
tools: [list_files]
"""
_GRAPH = graph_files.IMPORTS + graph_files.chain(
    """
    def plan(state):
        return {"messages": [AIMessage("Two nodes can be drained now. The others are busy.")]}

    def drain(state):
        question = "Which nodes may be drained, and for how long?"
        answer = interrupt({"question": question, "nodes": ["node-3", "node-7"], "minutes": 10})
        return {"messages": [AIMessage(f"The answer was {answer}.")]}
    """,
    "plan",
    "drain",
)


def put(folder: Path) -> None:
    for name, spec in (
        ("lead_agent", _LEAD),
        ("hasty_agent", _HASTY),
        ("free_agent", _FREE),
        ("release_agent", _RELEASE),
        ("careful_agent", _CAREFUL),
        ("search_agent", _SEARCH),
    ):
        agent_files.put(folder, name, spec)
    (folder / "nodes.py").write_text(_GRAPH)
    agent_files.put(folder, "node_agent", "type: langgraph\ngraph: nodes:graph\n")
