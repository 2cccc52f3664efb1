"""`turnwire-agent sessions`: what a journal has."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator

from turnwire_agent.cli.agent.arguments import add_agent, settings
from turnwire_agent.cli.terminal import printable
from turnwire_agent.settings import Agent

_DESCRIPTION = """\
Lists the sessions of a journal; with --session the rows of one of them, and what
it is asked for and nobody has taken yet. A server may use the journal at the
same time. Arguments that a tool marks as secret are hidden; without an agent
nobody knows which those are, and no argument is shown.
Exit codes: 0 done, 1 there is none, 2 wrong usage.
"""
PAGE = 1_000
SHOWN = 200
"""Most characters of a value in a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _DESCRIPTION
    add_agent(parser)
    parser.add_argument("--session", metavar="ID", help="the rows of this session")
    parser.add_argument("--json", action="store_true", help="an object a line, with whole values")


def run(arguments: argparse.Namespace) -> int:
    """Print. Returns the exit code.

    Raises:
        UsageError: There is no such agent.
    """
    return asyncio.run(_run(settings(arguments), arguments))


async def _run(agent: Agent, arguments: argparse.Namespace) -> int:
    # What a journal and its events need takes a while to import.
    from turnwire_agent.cli.agent.parts import CannotServeError  # noqa: PLC0415

    if arguments.session is None:
        lines = _ids(agent, as_json=arguments.json)
    else:
        lines = _rows(agent, arguments)
    found = False
    try:
        async for line in lines:
            found = True
            print(line)
    except CannotServeError as error:
        print(f"turnwire-agent sessions: {printable(str(error))}", file=sys.stderr)
        return 1
    if not found and arguments.session is not None:
        print("turnwire-agent sessions: there is no such session", file=sys.stderr)
        return 1
    return 0


async def _ids(agent: Agent, *, as_json: bool) -> AsyncIterator[str]:
    from turnwire_agent.cli.agent.journals import opened  # noqa: PLC0415

    async with opened(agent) as journal:
        after = ""
        while ids := await journal.sessions(after=after, limit=PAGE):
            for each in ids:
                yield json.dumps({"session": each}) if as_json else printable(each)
            after = ids[-1]


async def _rows(agent: Agent, arguments: argparse.Namespace) -> AsyncIterator[str]:
    from turnwire_agent.cli.agent import rows  # noqa: PLC0415
    from turnwire_agent.cli.agent.journals import checked_session, opened  # noqa: PLC0415
    from turnwire_agent.session.codec import (  # noqa: PLC0415
        BrokenEventError,
        NewerEventError,
        event_of,
    )

    frames = rows.frames_for(agent, named=arguments.agent is not None)
    session = checked_session(arguments.session)
    async with opened(agent) as journal:
        async for row in rows.rows_of(journal, session):
            place = {"seq": row.seq, "epoch": row.epoch, "kind": row.kind}
            try:
                event = event_of(row.kind, row.body)
            except (BrokenEventError, NewerEventError) as error:
                yield _line(place | {"unread": str(error)}, as_json=arguments.json)
                continue
            facts = {"at": rows.time_of(event), **rows.facts_of(event, frames)}
            yield _line(place | facts, as_json=arguments.json)
        for command in await journal.commands(session):
            waits = {"waits": command.number, "kind": command.kind}
            yield _line(waits, as_json=arguments.json)


def _line(facts: dict[str, object], *, as_json: bool) -> str:
    facts = {name: value for name, value in facts.items() if value != ""}
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    return printable(" ".join(_shown(facts))).replace("\n", "\\n").replace("\t", "\\t")


def _shown(facts: dict[str, object]) -> Iterator[str]:
    """`7  call-begun  tool=refund …`: the place and the kind first, the epoch behind them."""
    number = facts.pop("seq", None)
    yield f"{number:>5}" if number is not None else f"waits {facts.pop('waits')}"
    yield f"{str(facts.pop('kind')).partition('.')[0]:<16}"
    if at := facts.pop("at", None):
        yield str(at)
    if "entry" not in facts:
        facts.pop("turn", None)  # that of the last `turn-begun`
    for name, value in facts.items():
        text = json.dumps(value, ensure_ascii=False) if _is_quoted(value) else str(value)
        yield f"{name.replace(' ', '-')}={text if len(text) <= SHOWN else text[:SHOWN] + '…'}"


def _is_quoted(value: object) -> bool:
    """Whether a value has spaces or shape."""
    return (
        isinstance(value, bool)
        or not isinstance(value, str | int | float)
        or " " in str(value)
        or "\n" in str(value)
    )
