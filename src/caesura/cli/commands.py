"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import caesura

_PLAIN: dict[str, Any] = {
    "rich_markup_mode": None,
    "no_args_is_help": True,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}

app = typer.Typer(help="A server for agent conversations, and what goes with it.", **_PLAIN)
user = typer.Typer(help="People who may use the server.", **_PLAIN)
agents = typer.Typer(help="Agents: check their files, list them.", **_PLAIN)
grants = typer.Typer(help="Tools that a conversation always allows.", **_PLAIN)
files = typer.Typer(help="Files in the workspace of a conversation.", **_PLAIN)
new = typer.Typer(help="New files to begin with.", **_PLAIN)
app.add_typer(user, name="user")
app.add_typer(agents, name="agents")
app.add_typer(grants, name="grants")
app.add_typer(files, name="files")
app.add_typer(new, name="new")


def _flag(text: str) -> Any:
    return typer.Option(help=text, show_default=False)


DataDir = Annotated[str | None, _flag("Folder of the database, the secret and the workspaces (data)")]
DatabaseUrl = Annotated[str | None, _flag("sqlite:///path or postgresql://… (SQLite in the data folder)")]
AgentsDir = Annotated[str | None, _flag("Folder of agent files")]
Url = Annotated[str, typer.Option(help="The server", envvar="CAESURA_URL")]
UserName = Annotated[str | None, typer.Option(help="Who you are", envvar="CAESURA_USER")]
Name = Annotated[str, typer.Argument(metavar="NAME", show_default=False)]
Conversation = Annotated[str | None, _flag("Its id (your newest conversation)")]
Place = Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id", show_default=False)]
_HERE = "http://127.0.0.1:8000"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"caesura {caesura.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command()
def serve(
    host: Annotated[str | None, _flag("Address to listen on (127.0.0.1)")] = None,
    port: Annotated[str | None, _flag("Port to listen on; 0 for any that is free (8000)")] = None,
    root_path: Annotated[str | None, _flag("Path below which a proxy serves it: /caesura (none)")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    redis_url: Annotated[str | None, _flag("redis://…, where several servers share a database")] = None,
    agents_dir: AgentsDir = None,
    built_in_agents: Annotated[str | None, _flag("false: only the agents of the folder (true)")] = None,
    default_agent: Annotated[str | None, _flag("Agent of a conversation that names none")] = None,
    model: Annotated[str | None, _flag("provider:name, or demo (what there is a key for)")] = None,
    model_map: Annotated[str | None, _flag("Other models for names in files: gpt-4o=demo,…")] = None,
    auth: Annotated[str | None, _flag("password, or none for one person on this machine")] = None,
    registration: Annotated[
        str | None, _flag("Who may register: open, invite or closed (open on loopback, else invite)")
    ] = None,
    token_hours: Annotated[str | None, _flag("How long a log-in holds (24)")] = None,
    jwt_issuer: Annotated[str | None, _flag("Service that vouches for people: iss of its tokens")] = None,
    jwt_audience: Annotated[str | None, _flag("aud that its tokens must have")] = None,
    jwt_jwks: Annotated[str | None, _flag("Its public keys: a URL or a file")] = None,
    jwt_claim: Annotated[str | None, _flag("Claim that says who it is (sub)")] = None,
    jwt_algorithms: Annotated[str | None, _flag("Algorithms of its tokens (RS256,ES256,EdDSA)")] = None,
    cors_origins: Annotated[str | None, _flag("Origins of other web pages, with commas between")] = None,
    trusted_proxies: Annotated[str | None, _flag("Proxies whose X-Forwarded-For is believed (none)")] = None,
    connections_per_address: Annotated[str | None, _flag("Connections from one address (1000)")] = None,
    streams_per_person: Annotated[str | None, _flag("Open streams of one person (100)")] = None,
    request_timeout: Annotated[str | None, _flag("Seconds in which a request must have come (60)")] = None,
    sse_ping_interval: Annotated[str | None, _flag("Seconds of silence before a stream pings (15)")] = None,
    stream_timeout: Annotated[str | None, _flag("Seconds that a turn may run (300)")] = None,
    stream_ttl: Annotated[str | None, _flag("Seconds that a reader may take nothing (30)")] = None,
    disconnect_grace: Annotated[str | None, _flag("Seconds before a run without readers stops (5)")] = None,
    on_disconnect: Annotated[str | None, _flag("stop or continue, when all readers have left")] = None,
    default_page_size: Annotated[str | None, _flag("Items of a page (20)")] = None,
    max_page_size: Annotated[str | None, _flag("Items of the largest page (100)")] = None,
    runs: Annotated[str | None, _flag("Turns that this process works on at once (500)")] = None,
    lease: Annotated[str | None, _flag("Seconds before others take a silent server's turns (15)")] = None,
    drain: Annotated[str | None, _flag("Seconds that runs get to end when the server stops (5)")] = None,
    sandboxes: Annotated[str | None, _flag("Commands that run at once (as many as cores)")] = None,
    workspace_bytes: Annotated[str | None, _flag("Bytes in a conversation's workspace (268435456)")] = None,
    workspace_bytes_per_person: Annotated[str | None, _flag("Bytes in a person's workspaces (2GiB)")] = None,
    upload_bytes: Annotated[str | None, _flag("Bytes of a file that a person uploads (64MiB)")] = None,
    search_url: Annotated[str | None, _flag("Search engine for web_search (none)")] = None,
    search_kind: Annotated[str | None, _flag("What it speaks: searxng or tavily (searxng)")] = None,
    fetch_allow: Annotated[str | None, _flag("Hosts and networks that web_fetch may reach besides")] = None,
    rate_requests: Annotated[str | None, _flag("Requests of a person (1200/minute)")] = None,
    rate_runs: Annotated[str | None, _flag("Messages and answers of a person (120/minute)")] = None,
    rate_logins: Annotated[str | None, _flag("Log-in attempts for a name (10/minute)")] = None,
    rate_registrations: Annotated[str | None, _flag("Registrations from an address (60/minute)")] = None,
    runs_per_person: Annotated[str | None, _flag("Runs of a person at once, or off (50)")] = None,
    questions_per_person: Annotated[str | None, _flag("Questions that wait for a person (1000)")] = None,
    conversations_per_person: Annotated[str | None, _flag("Conversations of a person (10000)")] = None,
    stored_bytes_per_person: Annotated[str | None, _flag("What is stored for a person (1GiB)")] = None,
    unread_bytes_per_person: Annotated[
        str | None, _flag("Large responses that a person has not read (32MiB)")
    ] = None,
    graph_state_bytes: Annotated[str | None, _flag("The state that a graph keeps (1MiB)")] = None,
    turn_bytes: Annotated[str | None, _flag("The log of one turn (16MiB)")] = None,
    result_bytes: Annotated[str | None, _flag("Memory for results of one turn's tool calls (8MiB)")] = None,
    result_bytes_per_person: Annotated[
        str | None, _flag("Memory for results in a person's running turns (32MiB)")
    ] = None,
    history_cache_bytes: Annotated[str | None, _flag("Conversations kept in memory (256MiB)")] = None,
    log_level: Annotated[str | None, _flag("debug, info, warning or error (info)")] = None,
    log_format: Annotated[str | None, _flag("json or text (json)")] = None,
    log_addresses: Annotated[str | None, _flag("Addresses in the log: full, cut or none (full)")] = None,
    langsmith: Annotated[str | None, _flag("true: LangSmith's variables count (false)")] = None,
    reload: Annotated[bool, typer.Option("--reload", help="Restart when code of agents changes")] = False,
) -> None:
    """Serve, until Ctrl-C.

    Every other flag is also a variable: --data-dir is CAESURA_DATA_DIR. The flag counts more.
    """
    flags = dict(locals())
    from caesura.cli import serving

    serving.serve_anew(flags) if flags.pop("reload") else serving.serve(flags)


@app.command()
def chat(
    message: Annotated[str | None, typer.Argument(help="Say this, and leave", show_default=False)] = None,
    url: Url = _HERE,
    user: UserName = None,
    agent: Annotated[str | None, typer.Option(help="Whom to talk to", show_default=False)] = None,
    go_on: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the last conversation")] = False,
    conversation: Annotated[str | None, _flag("Go on with this conversation: its id")] = None,
) -> None:
    """Talk to an agent from the terminal."""
    from caesura.cli import chat

    raise typer.Exit(chat.talk(url, user, agent, message, go_on, conversation))


@app.command()
def events(
    turn: Annotated[str, typer.Argument(metavar="TURN", show_default=False)],
    url: Url = _HERE,
    user: UserName = None,
    after: Annotated[int, typer.Option(min=0, help="Number of the last event that is not wanted")] = 0,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Wait for more, until it has ended")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each event")] = False,
) -> None:
    """Show what happened in a turn."""
    from caesura.cli import events

    events.show(url, user, turn, after, follow, as_json)


@app.command()
def token(name: Name, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Print a token of a person, made with the server's own secret."""
    from caesura.cli import people

    people.token(name, data_dir=data_dir, database_url=database_url)


@app.command()
def doctor(
    host: Annotated[str | None, _flag("Address to listen on (127.0.0.1)")] = None,
    port: Annotated[str | None, _flag("Port to listen on (8000)")] = None,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
    redis_url: Annotated[str | None, _flag("redis://…")] = None,
    agents_dir: AgentsDir = None,
    model: Annotated[str | None, _flag("provider:name, or demo")] = None,
    registration: Annotated[str | None, _flag("open, invite or closed")] = None,
    call: Annotated[bool, typer.Option("--call", help="Ask each agent's models for a word")] = False,
    agent: Annotated[str | None, _flag("Look at the models of this agent, and call them")] = None,
) -> None:
    """Check what the server needs, and say what to do. Exit code 1 when something is wrong.

    Nothing is created or changed: what serve would create is only reported. Only --call asks a model.
    """
    flags = dict(locals())
    asked = flags.pop("call"), flags.pop("agent")
    from caesura.cli import doctor

    raise typer.Exit(doctor.examine(flags, *asked))


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False)],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Copy SQLite's database into a new file, also while a server uses it."""
    from caesura.cli import backup

    backup.make(file, data_dir=data_dir, database_url=database_url)


@app.command()
def models(
    agent: Annotated[str | None, _flag("Those of this agent's provider (the server's own model)")] = None,
    model: Annotated[str | None, _flag("Those of this provider: provider:name, or provider")] = None,
    agents_dir: AgentsDir = None,
) -> None:
    """List the models that the provider offers: one name on each line."""
    from caesura.cli import models

    models.listing(agent, model, agents_dir)


@user.command("add")
def user_add(name: Name, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Add a person. The password is CAESURA_PASSWORD, a line of standard input, or asked for."""
    from caesura.cli import people

    people.add(name, data_dir=data_dir, database_url=database_url)


@user.command("list")
def user_list(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """List people: name, conversations, when they were added, role, id elsewhere, who is disabled."""
    from caesura.cli import people

    people.listing(data_dir=data_dir, database_url=database_url)


@user.command("passwd", hidden=True)
@user.command("password")
def user_password(name: Name, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Change a person's password: their tokens and tickets end at once."""
    from caesura.cli import people

    people.password(name, data_dir=data_dir, database_url=database_url)


@user.command("disable")
def user_disable(name: Name, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Let nobody in as this person: their tokens end at once, what they have is kept."""
    from caesura.cli import people

    people.disable(name, data_dir=data_dir, database_url=database_url)


@user.command("enable")
def user_enable(name: Name, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Let a disabled person in again, with the password and the conversations from before."""
    from caesura.cli import people

    people.enable(name, data_dir=data_dir, database_url=database_url)


@user.command("remove")
def user_remove(
    name: Name,
    conversations: Annotated[
        str | None, _flag("What becomes of their conversations: delete, or give=NAME to somebody else")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask")] = False,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Remove a person for good. Says first what will happen; their turns are stopped."""
    from caesura.cli import people

    people.remove(name, conversations, yes, data_dir=data_dir, database_url=database_url)


@user.command("role")
def user_role(
    name: Name,
    role: Annotated[Literal["member", "admin"], typer.Argument(show_default=False)],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Make a person an admin, who may list people and their usage, or a member again."""
    from caesura.cli import people

    people.role(name, role, data_dir=data_dir, database_url=database_url)


@user.command("link")
def user_link(
    name: Name,
    subject: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Let tokens of CAESURA_JWT_ISSUER for this id be this person."""
    from caesura.cli import people

    people.link(name, subject, data_dir=data_dir, database_url=database_url)


@user.command("unlink")
def user_unlink(name: Name, data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """Let no tokens of another service be this person."""
    from caesura.cli import people

    people.unlink(name, data_dir=data_dir, database_url=database_url)


@user.command("invite")
def user_invite(
    days: Annotated[int, typer.Option(min=1, max=365, help="How long it can be used")] = 7,
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Print a code with which one person may register, once."""
    from caesura.cli import people

    people.invite(days, data_dir=data_dir, database_url=database_url)


@user.command("invites")
def user_invites(data_dir: DataDir = None, database_url: DatabaseUrl = None) -> None:
    """List invites that can be used: how the code begins, when it was made, when it ends."""
    from caesura.cli import people

    people.invites(data_dir=data_dir, database_url=database_url)


@user.command("revoke")
def user_revoke(
    invite: Annotated[str, typer.Argument(metavar="INVITE", show_default=False)],
    data_dir: DataDir = None,
    database_url: DatabaseUrl = None,
) -> None:
    """Revoke an invite: its code, or the first eight characters of it."""
    from caesura.cli import people

    people.revoke(invite, data_dir=data_dir, database_url=database_url)


@agents.command("check")
def agents_check(
    directory: Annotated[Path, typer.Argument(metavar="DIR", show_default=False)],
    opens: Annotated[
        bool, typer.Option("--open", help="Also open the MCP servers, and list what they offer")
    ] = False,
) -> None:
    """Report every fault of the files in a folder. Exit code 1 when there is one."""
    from caesura.cli import roster

    raise typer.Exit(roster.check(directory, opens))


@agents.command("schema")
def agents_schema() -> None:
    """Print the JSON schema of an agent file, for an editor."""
    from caesura.cli import roster

    roster.schema()


@agents.command("list")
def agents_list(agents_dir: AgentsDir = None) -> None:
    """List the agents that a server would offer."""
    from caesura.cli import roster

    roster.listing(agents_dir)


@new.command("agent")
def new_agent(
    name: Name,
    folder: Annotated[Path, typer.Option("--dir", help="Folder of agent files")] = Path("agents"),
) -> None:
    """Write a small agent: its file, tools in Python, and a test. Nothing that exists is overwritten."""
    from caesura.cli import drafts

    drafts.agent(name, folder)


@grants.command("list")
def grants_list(url: Url = _HERE, user: UserName = None, conversation: Conversation = None) -> None:
    """List the tools that are always allowed on the active branch: name, since when, in which turn."""
    from caesura.cli import grants

    grants.show(url, user, conversation)


@grants.command("revoke")
def grants_revoke(
    tool: Annotated[str, typer.Argument(metavar="TOOL", show_default=False)],
    url: Url = _HERE,
    user: UserName = None,
    conversation: Conversation = None,
) -> None:
    """Have the agent ask for this tool again, on every branch of the conversation."""
    from caesura.cli import grants

    grants.revoke(url, user, tool, conversation)


@files.command("list")
def files_list(
    conversation: Place,
    path: Annotated[str, typer.Argument(help="A folder (all of the workspace)", show_default=False)] = "",
    url: Url = _HERE,
    user: UserName = None,
) -> None:
    """List a folder: bytes, when it was changed, and name."""
    from caesura.cli import workspace

    workspace.show(url, user, conversation, path)


@files.command("get")
def files_get(
    conversation: Place,
    path: Annotated[str, typer.Argument(show_default=False)],
    to: Annotated[str | None, _flag("Save it here; - for standard output (its own name)")] = None,
    url: Url = _HERE,
    user: UserName = None,
) -> None:
    """Save a file of the workspace."""
    from caesura.cli import workspace

    workspace.get(url, user, conversation, path, to)


@files.command("put")
def files_put(
    conversation: Place,
    file: Annotated[str, typer.Argument(help="- for standard input", show_default=False)],
    path: Annotated[
        str | None, typer.Argument(help="Its path there, or a folder/ (its name)", show_default=False)
    ] = None,
    url: Url = _HERE,
    user: UserName = None,
) -> None:
    """Write a file into the workspace, in place of one that has this path."""
    from caesura.cli import workspace

    workspace.put(url, user, conversation, file, path)


@files.command("remove")
def files_remove(
    conversation: Place,
    path: Annotated[str, typer.Argument(show_default=False)],
    url: Url = _HERE,
    user: UserName = None,
) -> None:
    """Remove a file, or a folder with everything in it."""
    from caesura.cli import workspace

    workspace.remove(url, user, conversation, path)
