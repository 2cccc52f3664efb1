"""Whether an agent could be served here: each thing that it needs, one after another."""

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from typing import NamedTuple

from turnwire_agent.access.listening import BadAddressError, CannotListenError, place
from turnwire_agent.cli.access_arguments import NoTokensError
from turnwire_agent.cli.agent.journals import opened, sqlite_path
from turnwire_agent.cli.agent.parts import (
    CannotServeError,
    journal_of,
    metrics_place,
    servers_of,
    tokens_of,
    tools_of,
)
from turnwire_agent.cli.arguments import UsageError
from turnwire_agent.llm.call.http import Client
from turnwire_agent.mcp.errors import MissingLibraryError
from turnwire_agent.mcp.log import LOGGER
from turnwire_agent.mcp.servers import Snapshot
from turnwire_agent.openapi.api import OpenApi
from turnwire_agent.settings import Agent
from turnwire_agent.tools.contract import Tool, Tools


class Finding(NamedTuple):
    """One line."""

    part: str
    """Of the agent, as `journal`; empty: a setting is wrong, and the text names it."""
    text: str
    good: bool


def _good(part: str, text: str) -> Finding:
    return Finding(part, text, good=True)


def _bad(part: str, text: str) -> Finding:
    return Finding(part, text, good=False)


def _wrong(error: UsageError | str) -> Finding:
    return Finding("", str(error), good=False)


async def looked_at(agent: Agent, client: Client, into: list[Tool]) -> AsyncIterator[Finding]:
    """Look at all but the model.

    Args:
        agent: Its settings.
        client: Reads keys of tokens that are at a URL.
        into: Gets the tools that there are, those of servers too.
    """
    async with AsyncExitStack() as stack:
        own = Tools()
        apis: Mapping[str, OpenApi] = {}
        try:
            own, apis = await tools_of(agent, stack)
        except UsageError as error:
            yield _wrong(error)
        for finding in _of_apis(apis):
            yield finding
        tools = own
        stack.enter_context(_no_lines(LOGGER))  # what they say is a finding
        try:
            if servers := await servers_of(agent, stack):
                snapshot = await servers.snapshot(own)
                for finding in _of_servers(agent, own, snapshot):
                    yield finding
                tools = snapshot.tools
        except UsageError as error:
            yield _wrong(error)
        except MissingLibraryError as error:
            yield _bad("mcp", str(error))
        into += tools
        if tools:
            yield _good("tools", ", ".join(_described(each) for each in tools))
    async for finding in _journal(agent):
        yield finding
    async for finding in _access(agent, client):
        yield finding


def _of_apis(apis: Mapping[str, OpenApi]) -> list[Finding]:
    found = list[Finding]()
    for name, api in apis.items():
        found.append(_good(f"openapi {name}", f"{len(api.tools)} operations are tools"))
        found += [
            _good(f"openapi {name}", f"{each.operation} is none, or not whole: {each.why}")
            for each in api.refusals
        ]
    return found


def _of_servers(agent: Agent, own: Tools, snapshot: Snapshot) -> list[Finding]:
    found = list[Finding]()
    for name in agent.mcp:
        count = sum(each.name.startswith(f"{name}.") for each in snapshot.tools) - sum(
            each.name.startswith(f"{name}.") for each in own
        )
        problems = [each for each in snapshot.problems if each.server == name]
        if count or not problems:
            found.append(_good(f"mcp {name}", f"has {count} tools"))
        found += [
            _bad(f"mcp {name}", f"{each.tool}: {each.why}" if each.tool else each.why)
            for each in problems
        ]
    return found


def _described(tool: Tool) -> str:
    asks = "" if tool.approval == "never" else ", asks a person"
    return f"{tool.name} ({tool.effect.value}{asks})"


async def _journal(agent: Agent) -> AsyncIterator[Finding]:
    """A journal that is not there yet is made when the agent is served."""
    try:
        address = journal_of(agent)
        path = sqlite_path(address)
        if address == "memory":
            yield _good("journal", "in memory: sessions end with the process")
        elif path is not None and not path.exists():
            if path.parent.is_dir():
                yield _good("journal", f"{path} will be made")
            else:
                yield _bad("journal", f"there is no folder {path.parent}")
        else:
            async with opened(agent) as journal:
                any_session = await journal.sessions(limit=1)
            yield _good("journal", "reachable" if any_session else "reachable, and empty")
    except UsageError as error:
        yield _wrong(error)
    except CannotServeError as error:
        yield _bad("journal", str(error))


async def _access(agent: Agent, client: Client) -> AsyncIterator[Finding]:
    """Where the server would listen, and to whom. No port is opened."""
    try:
        await tokens_of(agent, client)
    except UsageError as error:
        yield _wrong(error)
    except NoTokensError as error:
        yield _bad("tokens", str(error))
    try:
        place(agent.listen, has_token=bool(agent.token_file or agent.token_jwks))
    except BadAddressError as error:
        yield _wrong(f"listen: {error}")
    except CannotListenError as error:
        yield _bad("listen", str(error))
    try:
        if agent.metrics:
            metrics_place(agent.metrics)
    except UsageError as error:
        yield _wrong(error)


@contextmanager
def _no_lines(logger: logging.Logger) -> Iterator[None]:
    """Let a logger write nothing for a while."""
    propagates, nothing = logger.propagate, logging.NullHandler()
    logger.addHandler(nothing)
    logger.propagate = False
    try:
        yield
    finally:
        logger.propagate = propagates
        logger.removeHandler(nothing)
