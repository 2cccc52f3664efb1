"""What an agent is made of, from its settings: its model, its tools, its servers, its access."""

import argparse
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec

from turnwire_agent.access.access import Tokens
from turnwire_agent.access.listening import BadAddressError, host_and_port
from turnwire_agent.cli.access_arguments import tokens
from turnwire_agent.cli.arguments import Asked, UsageError, asked, base_url, tools
from turnwire_agent.journal.open import MissingExtraError, NoJournalError, open_journal
from turnwire_agent.journal.port import Journal
from turnwire_agent.llm.call.http import Client
from turnwire_agent.llm.credentials.api_key import ApiKey, NoKey
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.key_header import BEARER, KeyHeader
from turnwire_agent.llm.credentials.port import Credential
from turnwire_agent.llm.credentials.sources import KeySource, KeyVariable
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import BadServerError, Endpoint, Program, Server
from turnwire_agent.openapi.api import OpenApi
from turnwire_agent.settings import Agent, Api, McpServer
from turnwire_agent.tools.contract import BadToolError, Tools
from turnwire_agent.tools.openapi.policy import Policy

DOCUMENT_MAX = 16 * 1024 * 1024
"""Most bytes of an OpenAPI document."""


class CannotServeError(Exception):
    """Something that the agent needs is not there. The text is one line, for the operator."""


def model_of(agent: Agent) -> Asked:
    """The model and its credential.

    Raises:
        UsageError: The agent has none, or something does not fit.
    """
    if not agent.model:
        raise UsageError("an agent needs a model, as --model anthropic:claude-sonnet-4-5")
    try:
        where = agent.base_url and base_url(agent.base_url)
    except argparse.ArgumentTypeError as error:
        raise UsageError(str(error)) from error
    key_file = agent.key_file and Path(agent.key_file)
    return asked(
        agent.model,
        argparse.Namespace(
            base_url=where, shape=agent.shape, key_file=key_file, key_variable=agent.key_variable
        ),
    )


async def tools_of(agent: Agent, stack: AsyncExitStack) -> tuple[Tools, Mapping[str, OpenApi]]:
    """The tools of the agent, without those of MCP servers, and the APIs that some of them are of.

    Args:
        agent: Its settings.
        stack: Holds the connections to the APIs.

    Raises:
        UsageError: A tool or an API does not fit, or its document is not there.
    """
    apis = {name: _api(name, each) for name, each in agent.openapi.items()}
    for api in apis.values():
        await stack.enter_async_context(api)
    return tools((*agent.tools, *(api.tools for api in apis.values()))), apis


async def servers_of(agent: Agent, stack: AsyncExitStack) -> McpServers | None:
    """The MCP servers of the agent, which begin to connect.

    Raises:
        UsageError: One of them does not fit.
        MissingLibraryError: The extra `mcp` is not installed.
    """
    if not agent.mcp:
        return None
    try:
        named = [_mcp_server(name, server) for name, server in agent.mcp.items()]
        servers = McpServers(named)
    except BadServerError as error:
        raise UsageError(str(error)) from error
    return await stack.enter_async_context(servers)


async def tokens_of(agent: Agent, client: Client) -> Tokens | None:
    """What verifies the tokens of gateways; None: nobody needs one.

    Raises:
        UsageError, NoTokensError: See `access_arguments.tokens`.
    """
    arguments = argparse.Namespace(
        token_file=agent.token_file and Path(agent.token_file),
        token_jwks=agent.token_jwks,
        token_issuer=agent.token_issuer,
        token_audience=agent.token_audience,
        token_leeway_s=agent.token_leeway_s,
    )
    return await tokens(arguments, client)


def journal_of(agent: Agent) -> str:
    """The address of the journal. It may hold a password.

    Raises:
        UsageError: The file that has it is not there.
    """
    if agent.journal_file is None:
        return agent.journal
    try:
        return Path(agent.journal_file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"journal_file: {_unread(agent.journal_file, error)}") from error


def unopened_journal(agent: Agent) -> Journal:
    """The journal, not started yet.

    Raises:
        UsageError: Its address is none.
        CannotServeError: The extra that it needs is not installed.
    """
    try:
        return open_journal(journal_of(agent))
    except MissingExtraError as error:
        raise CannotServeError(str(error)) from error
    except NoJournalError as error:
        field = "journal" if agent.journal_file is None else "journal_file"
        raise UsageError(f"{field}: {error}") from error


def metrics_place(where: str) -> tuple[str, int]:
    """The host and the port of the server for Prometheus.

    Raises:
        UsageError: It is no such address.
    """
    try:
        return host_and_port(where)
    except BadAddressError as error:
        raise UsageError(f"metrics: {error}") from error


def secrets_of(tools: Tools) -> Callable[[str], frozenset[str]]:
    """What knows the secret arguments of a tool by its name."""

    def secrets(name: str) -> frozenset[str]:
        tool = tools.get(name)
        return frozenset() if tool is None else tool.secrets

    return secrets


def _mcp_server(name: str, server: McpServer) -> Server:
    place: Program | Endpoint
    if server.command is not None:
        place = Program(
            command=server.command, arguments=server.arguments, inherited=server.inherited
        )
    else:
        key = ApiKey(KeyFile(Path(server.key_file)), BEARER) if server.key_file else NoKey()
        place = Endpoint(url=server.url or "", credential=key)
    return Server(
        name=name,
        place=place,
        trusted=server.trusted,
        only=None if server.only is None else frozenset(server.only),
        approval=server.approval,
    )


def _api(name: str, api: Api) -> OpenApi:
    policy = Policy(
        name=name,
        only=None if api.only is None else frozenset(api.only),
        keyed=frozenset(api.keyed),
        approval=api.approval,
    )
    document = _document(f"openapi.{name}.document", Path(api.document))
    try:
        return OpenApi(document, policy, api.address, credential=_api_key(api))
    except BadToolError as error:
        raise UsageError(f"API {name!r}: {error}") from error


def _document(field: str, path: Path) -> Any:
    try:
        if path.stat().st_size > DOCUMENT_MAX:
            raise UsageError(f"{field}: {path} is longer than {DOCUMENT_MAX} bytes")
        return msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{field}: {_unread(str(path), error)}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{field}: {path} is no JSON") from error


def _api_key(api: Api) -> Credential:
    source: KeySource
    if api.key_file:
        source = KeyFile(Path(api.key_file))
    elif api.key_variable:
        source = KeyVariable(api.key_variable)
    else:
        return NoKey()
    return ApiKey(source, KeyHeader(api.key_header) if api.key_header else BEARER)


def _unread(path: str, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file {path}"
    why = error.strerror if isinstance(error, OSError) else "no UTF-8"
    return f"{path}: {why}"
