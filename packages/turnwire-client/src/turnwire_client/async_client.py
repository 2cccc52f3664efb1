"""The client for programs on asyncio."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, closing
from types import TracebackType
from typing import Final, Self, TypeAlias

import httpx

from turnwire_client.chat import BaseChat
from turnwire_client.events import Event, ToolApprovalRequest
from turnwire_client.http_calls import (
    POOL,
    accepted,
    broken,
    built,
    check_size,
    checked_url,
    is_stream,
    reply_to,
)
from turnwire_client.limits import Limits
from turnwire_client.message import Part, UIMessage
from turnwire_client.replies import Receipt, read_messages, read_receipt
from turnwire_client.requests import OnDisconnect, Place, Profile, Request
from turnwire_client.steps import Broken, Close, Open, Outcome, Read, Reply, Steps, Wait

AsyncToken: TypeAlias = str | Callable[[], str | Awaitable[str]]
"""A token, or what gives a fresh one: it is called before the first request, and after a 401."""

DEFAULTS: Final = Limits()


class AsyncClient:
    """`async with AsyncClient("https://gateway.example") as client:`; chats share its connections.

    `http`: an httpx client of your own, which you close yourself.
    """

    def __init__(
        self, url: str, *, limits: Limits = DEFAULTS, http: httpx.AsyncClient | None = None
    ) -> None:
        self._url = checked_url(url)
        self._limits = limits
        self._http = http or httpx.AsyncClient(limits=POOL)
        self._is_own = http is None

    def chat(
        self,
        session_id: str,
        *,
        token: AsyncToken | None = None,
        chat_id: str | None = None,
        query: Mapping[str, str] | None = None,
        on_disconnect: OnDisconnect | None = None,
        profile: Profile | None = None,
    ) -> "AsyncChat":
        """Return a chat of a session. Nothing is sent yet.

        Args:
            session_id: The id of the session.
            token: See `AsyncToken`.
            chat_id: For gateways with `TURNWIRE_THREADS=chat`.
            query: Goes along with every request: `{"threadId": …}`, for example.
            on_disconnect: What becomes of a turn whose client left; None: the gateway's setting.
            profile: Approvals come natively, and their streams end; None: they are questions.
        """
        place = Place(
            session_id=session_id,
            chat_id=chat_id,
            query=dict(query or {}),
            on_disconnect=on_disconnect,
            profile=profile,
        )
        return AsyncChat(_Line(self._http, self._url, token, self._limits), place, self._limits)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


class AsyncChat(BaseChat):
    """One chat. Each method may raise a `ClientError`."""

    def __init__(self, line: "_Line", place: Place, limits: Limits) -> None:
        super().__init__(place, limits)
        self._line = line

    def send(
        self,
        prompt: str | Sequence[Part],
        *,
        message_id: str | None = None,
        before: Sequence[UIMessage] = (),
    ) -> AsyncGenerator[Event, None]:
        """Send a prompt, and yield the events of its turn; the last one is how it ended.

        To leave early is to hang up: do it in `async with contextlib.aclosing(chat.send(…))`, else
        the connection stays open until the loop clears it away. With the `message_id` of an earlier
        prompt there is no second turn, if the agent's history has that message: its answer is
        yielded. `before` are the earlier messages, for agents that do not keep them.
        """
        return self._events(self._send(prompt, message_id, before))

    def resume(self) -> AsyncGenerator[Event, None]:
        """Yield the events of the turn that runs or waits, from its start; none without a turn."""
        return self._events(self._resume())

    async def stop(self, turn_id: str | None = None) -> Receipt:
        """Stop the named turn, or the one that is being read, or any; returns when it is over."""
        request = self._place.stop(turn_id or self.turn_id)
        return read_receipt(accepted(await self._line.call(request)))

    async def answer(
        self, question_id: str, answer: object, *, approval_id: str | None = None
    ) -> None:
        """Answer an open question; `RefusedError` with `question_closed` if it is closed."""
        accepted(await self._line.call(self._place.answer(question_id, answer, approval_id)))

    async def approve(self, approval: ToolApprovalRequest, *, reason: str | None = None) -> None:
        """Let a call run. A native approval is sent when its stream has ended, or by `resume()`."""
        await self._decide(approval, approved=True, reason=reason)

    async def deny(self, approval: ToolApprovalRequest, *, reason: str | None = None) -> None:
        """Do not let a call run. As `approve`."""
        await self._decide(approval, approved=False, reason=reason)

    async def _decide(
        self, approval: ToolApprovalRequest, *, approved: bool, reason: str | None
    ) -> None:
        if approval.is_native:
            self._verdicts.decide(approval, approved=approved, reason=reason)
            return
        request = self._place.verdict(approval, approved=approved, reason=reason)
        accepted(await self._line.call(request))

    async def history(
        self, *, limit: int | None = None, before: str | None = None
    ) -> list[UIMessage]:
        """The messages of the chat, oldest first: the last ones, or those before a message's id."""
        return read_messages(accepted(await self._line.call(self._place.history(limit, before))))

    async def _events(self, steps: Steps[None]) -> AsyncGenerator[Event, None]:
        body = _Body()
        outcome: Outcome = None
        with closing(steps):
            async with body:
                while True:
                    try:
                        step = steps.send(outcome)
                    except StopIteration:
                        return
                    outcome = None
                    match step:
                        case Open(request):
                            outcome = await self._line.open(request, body)
                        case Read():
                            outcome = await body.read()
                        case Close():
                            await body.close()
                        case Wait(seconds):
                            await asyncio.sleep(seconds)
                        case _:
                            yield step


class _Body:
    """The body of one response, which may be open."""

    def __init__(self) -> None:
        self._response: httpx.Response | None = None
        self._pieces: AsyncIterator[bytes] | None = None

    async def begin(self, response: httpx.Response) -> None:
        await self.close()
        self._response, self._pieces = response, response.aiter_bytes()

    async def read(self) -> bytes | Broken:
        if self._pieces is None:
            return b""
        try:
            return await anext(self._pieces, b"")
        except httpx.HTTPError as error:
            return broken(error)

    async def close(self) -> None:
        if self._response is not None:
            response, self._response, self._pieces = self._response, None, None
            await response.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Line:
    """Sends the requests of a chat, with its token."""

    def __init__(
        self, http: httpx.AsyncClient, url: str, token: AsyncToken | None, limits: Limits
    ) -> None:
        self._http = http
        self._url = url
        self._token = token if isinstance(token, str) else None
        self._ask = None if isinstance(token, str) else token
        self._limits = limits

    async def call(self, request: Request) -> Reply | Broken:
        """Send a request whose answer is no stream."""
        async with _Body() as body:
            return await self.open(request, body)

    async def open(self, request: Request, body: _Body) -> Reply | Broken:
        """Send a request; a stream that comes for it is open in `body`."""
        try:
            response = await self._answer(request)
            if is_stream(response):
                await body.begin(response)
                return reply_to(response, b"", is_open=True)
            async with aclosing(response):
                whole = bytearray()
                async for data in response.aiter_bytes():
                    whole += data
                    check_size(whole, self._limits)
                return reply_to(response, bytes(whole))
        except httpx.HTTPError as error:
            return broken(error)

    async def _answer(self, request: Request) -> httpx.Response:
        if self._token is None and self._ask is not None:
            self._token = await _fresh(self._ask)
        response = await self._attempt(request)
        if response.status_code == httpx.codes.UNAUTHORIZED and self._ask is not None:
            await response.aclose()
            self._token = await _fresh(self._ask)
            response = await self._attempt(request)
        return response

    async def _attempt(self, request: Request) -> httpx.Response:
        sent = built(self._http, self._url, request, self._token, self._limits)
        return await self._http.send(sent, stream=True)


async def _fresh(ask: Callable[[], str | Awaitable[str]]) -> str:
    token = ask()
    return token if isinstance(token, str) else await token
