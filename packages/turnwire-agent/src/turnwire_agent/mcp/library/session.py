"""A connected server, by the library: its calls in plain JSON, its errors in our words."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from types import TracebackType
from typing import Any, Final

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter

from turnwire_agent import __version__
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.mcp.errors import GoneError, ProtocolError, QuestionError, SilentError
from turnwire_agent.mcp.library.http import http_client
from turnwire_agent.mcp.library.stdio import StdioTransport
from turnwire_agent.mcp.port import Listed
from turnwire_agent.mcp.settings import Program, Server

PAGES_MAX: Final = 100
"""Most pages of a listing."""

_RESULT: Final[TypeAdapter[CallToolResult | InputRequiredResult]] = TypeAdapter(
    CallToolResult | InputRequiredResult
)
_TERMINATED: Final = "Session terminated"
"""What the library says for a 404: the server was started anew, and knows no session of ours."""
_LOST: Final = (MCPError, httpx2.HTTPError, OSError, RuntimeError, ValueError, ExceptionGroup)
"""All that the library raises for what a server does."""

# It writes what it cannot read into the log, with its traceback, and the address of each request.
for _name in ("mcp", "httpx2"):
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.CRITICAL)


class LibrarySession:
    """A server, connected by the library."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._changed = False
        self._gone = asyncio.Event()
        self._client: Client | None = None

    async def on_message(self, message: object) -> None:
        """Take what the server says beside its answers."""
        if isinstance(message, ToolListChangedNotification):
            self._changed = True

    def serve(self, client: Client) -> None:
        """Speak by this client, which is connected."""
        self._client = client

    @property
    def client(self) -> Client:
        """The client, which is there before anybody calls."""
        assert self._client
        return self._client

    def changed(self) -> bool:
        changed, self._changed = self._changed, False
        return changed

    async def list_tools(self) -> Listed:
        tools: list[Mapping[str, Any]] = []
        if self.client.server_capabilities.tools is None:
            return Listed(())
        cursor: str | None = None
        try:
            async with asyncio.timeout(self._server.connect_s):
                for _ in range(PAGES_MAX):
                    page = await self.client.list_tools(cursor=cursor)
                    tools += (
                        tool.model_dump(by_alias=True, exclude_none=True, mode="json")
                        for tool in page.tools
                    )
                    cursor = page.next_cursor
                    if not cursor or len(tools) > self._server.bounds.tools:
                        break
        except TimeoutError:
            raise SilentError("no listing in time") from None
        except _LOST as exc:
            raise self._failed(exc) from exc
        return Listed(tuple(tools[: self._server.bounds.tools + 1]))

    async def call(
        self, name: str, arguments: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        request = CallToolRequest(
            params=CallToolRequestParams(name=name, arguments=dict(arguments))
        )
        try:
            # The library's own limit begins when the request is written: a server that does not
            # read would never reach it.
            async with asyncio.timeout(timeout_s):
                # Not `call_tool`, which checks the result by patterns of the server's: one of them
                # can keep the event loop busy for ever.
                result = await self.client.session.send_request(
                    request, _RESULT, request_read_timeout_seconds=timeout_s + 1
                )
        except TimeoutError:
            raise SilentError("no answer in time") from None
        except _LOST as exc:
            raise self._failed(exc) from exc
        if isinstance(result, InputRequiredResult):
            raise QuestionError
        dumped: Mapping[str, Any] = result.model_dump(by_alias=True, exclude_none=True, mode="json")
        return dumped

    async def gone(self) -> None:
        await self._gone.wait()

    def _failed(self, exc: Exception) -> Exception:
        if not isinstance(exc, MCPError):
            kind = "an answer that is none" if isinstance(exc, ValueError) else "no answer"
            return ProtocolError(f"{kind} ({type(exc).__name__})", str(exc))
        code, message = exc.error.code, exc.error.message
        if code == REQUEST_TIMEOUT:
            return SilentError("no answer in time")
        if code == CONNECTION_CLOSED or (code == INVALID_REQUEST and message == _TERMINATED):
            self._gone.set()
            return GoneError("the connection ended")
        return ProtocolError(f"the error {code} of the protocol", message)


class connect:  # noqa: N801 (called as a function, by the port)
    """A connection, for as long as the context lasts. One task enters and leaves it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = LibrarySession(server)
        self._stack = AsyncExitStack()
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LibrarySession:
        server, place = self._server, self._server.place
        try:
            async with asyncio.timeout(server.connect_s), AsyncExitStack() as stack:
                if isinstance(place, Program):
                    transport: Any = StdioTransport(place, server.bounds.message_bytes)
                else:
                    http = http_client(server, place.credential)
                    transport = streamable_http_client(
                        place.url,
                        http_client=await stack.enter_async_context(http),
                        max_sse_event_size=server.bounds.message_bytes,
                    )
                client = Client(
                    transport,
                    read_timeout_seconds=server.connect_s,
                    message_handler=self._session.on_message,
                    client_info=Implementation(name="turnwire-agent", version=__version__),
                    cache=None,
                )
                self._session.serve(await stack.enter_async_context(client))
                self._stack = stack.pop_all()
        except TimeoutError:
            raise GoneError("it did not answer in time") from None
        except (*_LOST, CredentialError) as exc:
            raise GoneError(_why(exc, "no connection")) from exc
        if self._session.client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self._listening = asyncio.create_task(self._listen())
        return self._session

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._listening:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        try:
            await self._stack.__aexit__(kind, error, traceback)
        except _LOST as exc:
            raise GoneError(_why(exc, "the connection was lost")) from exc

    async def _listen(self) -> None:
        """Hear of changes, where a server tells them to those alone that ask."""
        with suppress(*_LOST):
            async with self._session.client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    await self._session.on_message(ToolListChangedNotification())


def _why(exc: BaseException, words: str) -> str:
    """What the first error says in our words, in the groups that the library packs them into."""
    while isinstance(exc, BaseExceptionGroup):
        exc = exc.exceptions[0]
    if isinstance(exc, GoneError | CredentialError):
        return str(exc)
    return f"{words} ({type(exc).__name__})"
