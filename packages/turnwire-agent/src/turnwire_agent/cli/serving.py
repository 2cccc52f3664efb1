"""An agent as a running server: settings in, a socket that listens out."""

import argparse
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import get_args

from prometheus_client import start_http_server

from turnwire_agent.access.access import Access
from turnwire_agent.access.listening import CannotListenError, listener
from turnwire_agent.cli.access_arguments import NoTokensError, tokens
from turnwire_agent.cli.arguments import UsageError, asked, base_url, tools
from turnwire_agent.drivers.model import ModelDriver
from turnwire_agent.host.driver import Driver
from turnwire_agent.host.replica import Replica
from turnwire_agent.host.server import HostServer
from turnwire_agent.journal.open import NoJournalError, open_journal
from turnwire_agent.journal.port import NewerSchemaError, UnavailableError
from turnwire_agent.llm.call.http import Client, http_client
from turnwire_agent.llm.call.stream import CallSettings
from turnwire_agent.llm.credentials.api_key import ApiKey, NoKey
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.key_header import BEARER
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.model import ShapeName
from turnwire_agent.loop.agent import Agent as Asking
from turnwire_agent.mcp.errors import MissingLibraryError
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import BadServerError, Endpoint, Program, Server
from turnwire_agent.settings import Agent, McpServer, SettingsError
from turnwire_agent.tools.contract import Approval, Tools
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread
from turnwire_agent.v2.frames import Frames


class CannotServeError(Exception):
    """The server does not start. Its text is one line, for the operator."""


@asynccontextmanager
async def served(agent: Agent) -> AsyncIterator[tuple[str, int]]:
    """Serve an agent; return the host and the port where it listens.

    Raises:
        CannotServeError: something that it needs is not there.
        SettingsError, UsageError: its settings do not fit together.

    """
    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(http_client(trust_env=agent.trust_env))
            good = await tokens(_access_arguments(agent), client)
            listening, loopback = listener(agent.listen, has_token=good is not None)
            stack.callback(listening.close)
            thread = ToolThread()
            stack.callback(thread.close)
            own = tools(agent.tools)
            driver = agent.driver or await _model_driver(agent, own, client, thread, stack)
            frames = Frames(secrets_of(own))
            replica = Replica(open_journal(_journal(agent)), driver, frames, agent.host)
            access = Access(loopback=loopback, tokens=good)
            if agent.metrics:
                stack.callback(_metrics(agent.metrics))
            await stack.enter_async_context(HostServer(replica, listening, access, agent.host))
        except (
            BadServerError,
            CannotListenError,
            CredentialError,
            MissingLibraryError,
            NewerSchemaError,
            NoJournalError,
            NoTokensError,
            UnavailableError,
        ) as error:
            raise CannotServeError(str(error)) from error
        host, port = listening.getsockname()[:2]
        yield host, port


async def _model_driver(
    agent: Agent, own: Tools, client: Client, thread: ToolThread, stack: AsyncExitStack
) -> Driver:
    if not agent.model:
        raise SettingsError("an agent needs a model, as --model anthropic:claude-sonnet-4-5")
    if agent.shape is not None and agent.shape not in get_args(ShapeName):
        raise SettingsError(f"{agent.shape!r} is no shape: {', '.join(get_args(ShapeName))}")
    who = asked(
        agent.model,
        argparse.Namespace(
            base_url=agent.base_url and _base_url(agent.base_url),
            shape=agent.shape,
            key_file=agent.key_file and Path(agent.key_file),
            key_variable=agent.key_variable,
        ),
    )
    await who.credential.headers()  # a key that is not there is told before the first turn
    servers: McpServers | None = None
    if agent.mcp:
        named = [_mcp_server(name, server) for name, server in agent.mcp.items()]
        servers = await stack.enter_async_context(McpServers(named))
    return ModelDriver(
        agent=Asking(
            model=who.model,
            tools=own,
            instructions=agent.instructions,
            limits=agent.limits,
            window=agent.window,
            compacts=agent.compaction is not None,
        ),
        credential=who.credential,
        tools=ToolRunner(thread),
        calls=CallSettings(client=client),
        compaction=agent.compaction,
        servers=servers,
    )


def _metrics(where: str) -> Callable[[], None]:
    """Serve metrics in a thread; return what ends that."""
    host, _, port = where.rpartition(":")
    try:
        server, thread = start_http_server(int(port), host)
    except (OSError, ValueError) as error:
        raise CannotServeError(f"metrics cannot be served at {where}: {error}") from None

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop


def secrets_of(tools: Tools) -> Callable[[str], frozenset[str]]:
    """Return what knows the secret arguments of a tool by its name."""

    def secrets(name: str) -> frozenset[str]:
        tool = tools.get(name)
        return frozenset() if tool is None else tool.secrets

    return secrets


def _mcp_server(name: str, server: McpServer) -> Server:
    if (server.command is None) == (server.url is None):
        raise SettingsError(f"MCP server {name!r} needs a command, or a url")
    if server.approval not in {"never", "always"}:
        raise SettingsError(f"MCP server {name!r}: approval is never or always")
    place: Program | Endpoint
    if server.command is not None:
        place = Program(
            command=server.command, arguments=server.arguments, inherited=server.inherited
        )
    else:
        key = ApiKey(KeyFile(Path(server.key_file)), BEARER) if server.key_file else NoKey()
        place = Endpoint(url=server.url or "", credential=key)
    approval: Approval = "always" if server.approval == "always" else "never"
    return Server(name=name, place=place, trusted=server.trusted, approval=approval)


def _journal(agent: Agent) -> str:
    if agent.journal_file is None:
        return agent.journal
    try:
        return Path(agent.journal_file).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotServeError(f"the journal's address cannot be read: {error}") from error


def _base_url(value: str) -> str:
    try:
        return base_url(value)
    except argparse.ArgumentTypeError as error:
        raise SettingsError(str(error)) from error


def _access_arguments(agent: Agent) -> argparse.Namespace:
    return argparse.Namespace(
        token_file=agent.token_file and Path(agent.token_file),
        token_jwks=agent.token_jwks,
        token_issuer=agent.token_issuer,
        token_audience=agent.token_audience,
        token_leeway_s=agent.token_leeway_s,
    )


__all__ = ["CannotServeError", "UsageError", "served"]
