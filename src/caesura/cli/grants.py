"""Grants: the tools that are always allowed in a conversation, listed and revoked."""

from __future__ import annotations

import sys
from datetime import datetime

from caesura.cli.screen import clean
from caesura.cli.session import Refused, Session, opened
from caesura.client import Grant


def show(url: str, user: str | None, conversation: str | None) -> None:
    with opened(url, user) as session:
        found = session.run(session.client.grants(_named(session, conversation)))
    for grant in found:
        print(line(grant))
    if not found:
        print("no tool is always allowed in this conversation", file=sys.stderr)


def revoke(url: str, user: str | None, tool: str, conversation: str | None) -> None:
    with opened(url, user) as session:
        session.run(session.client.revoke(_named(session, conversation), tool))
        print(clean(f"{tool} is asked for again"))


def line(grant: Grant) -> str:
    """The tool, when it was allowed, in which turn and to which agent."""
    since = datetime.fromtimestamp(grant.granted_at / 1000).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return clean(f"{grant.tool:<30}  {since}  {grant.turn_id}  {grant.agent}")


def _named(session: Session, conversation: str | None) -> str:
    found = conversation or session.run(session.last_conversation())
    if found is None:
        raise Refused("there is no conversation yet")
    return found
