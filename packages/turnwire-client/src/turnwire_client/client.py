"""The client for programs without an event loop."""

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
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

Token: TypeAlias = str | Callable[[], str]
"""A token, or what gives a fresh one: it is called before the first request, and after a 401."""

DEFAULTS: Final = Limits()


class Client:
    """`with Client("https://gateway.example") as client:`; its chats share its connections.

    `http`: an httpx client of your own, which you close yourself.
    """

    def __init__(
        self, url: str, *, limits: Limits = DEFAULTS, http: httpx.Client | None = None
    ) -> None:
        self._url = checked_url(url)
        self._limits = limits
        self._http = http or httpx.Client(limits=POOL)
        self._is_own = http is None

    def chat(
        self,
        session_id: str,
        *,
        token: Token | None = None,
        chat_id: str | None = None,
        query: Mapping[str, str] | None = None,
        on_disconnect: OnDisconnect | None = None,
        profile: Profile | None = None,
    ) -> "Chat":
        """Return a chat of a session. Nothing is sent yet.

        Args:
            session_id: The id of the session.
            token: See `Token`.
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
        return Chat(_Line(self._http, self._url, token, self._limits), place, self._limits)

    def close(self) -> None:
        """Close all connections."""
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class Chat(BaseChat):
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
    ) -> Generator[Event, None, None]:
        """Send a prompt, and yield the events of its turn; the last one is how it ended.

        To leave the loop early is to hang up. With the `message_id` of an earlier prompt there is
        no second turn, if the agent's history has that message: its answer is yielded. `before`
        are the earlier messages, for agents that do not keep them.
        """
        return self._events(self._send(prompt, message_id, before))

    def resume(self) -> Generator[Event, None, None]:
        """Yield the events of the turn that runs or waits, from its start; none without a turn."""
        return self._events(self._resume())

    def stop(self, turn_id: str | None = None) -> Receipt:
        """Stop the named turn, or the one that is being read, or any; returns when it is over."""
        request = self._place.stop(turn_id or self.turn_id)
        return read_receipt(accepted(self._line.call(request)))

    def answer(self, question_id: str, answer: object, *, approval_id: str | None = None) -> None:
        """Answer an open question; `RefusedError` with `question_closed` if it is closed."""
        accepted(self._line.call(self._place.answer(question_id, answer, approval_id)))

    def approve(self, approval: ToolApprovalRequest, *, reason: str | None = None) -> None:
        """Let a call run. A native approval is sent when its stream has ended, or by `resume()`."""
        self._decide(approval, approved=True, reason=reason)

    def deny(self, approval: ToolApprovalRequest, *, reason: str | None = None) -> None:
        """Do not let a call run. As `approve`."""
        self._decide(approval, approved=False, reason=reason)

    def _decide(self, approval: ToolApprovalRequest, *, approved: bool, reason: str | None) -> None:
        if approval.is_native:
            self._verdicts.decide(approval, approved=approved, reason=reason)
            return
        request = self._place.verdict(approval, approved=approved, reason=reason)
        accepted(self._line.call(request))

    def history(self, *, limit: int | None = None, before: str | None = None) -> list[UIMessage]:
        """The messages of the chat, oldest first: the last ones, or those before a message's id."""
        return read_messages(accepted(self._line.call(self._place.history(limit, before))))

    def _events(self, steps: Steps[None]) -> Generator[Event, None, None]:
        body = _Body()
        outcome: Outcome = None
        with closing(steps), body:
            while True:
                try:
                    step = steps.send(outcome)
                except StopIteration:
                    return
                outcome = None
                match step:
                    case Open(request):
                        outcome = self._line.open(request, body)
                    case Read():
                        outcome = body.read()
                    case Close():
                        body.close()
                    case Wait(seconds):
                        time.sleep(seconds)
                    case _:
                        yield step


class _Body:
    """The body of one response, which may be open."""

    def __init__(self) -> None:
        self._response: httpx.Response | None = None
        self._pieces: Iterator[bytes] = iter(())

    def begin(self, response: httpx.Response) -> None:
        self.close()
        self._response, self._pieces = response, response.iter_bytes()

    def read(self) -> bytes | Broken:
        try:
            return next(self._pieces, b"")
        except httpx.HTTPError as error:
            return broken(error)

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Line:
    """Sends the requests of a chat, with its token."""

    def __init__(self, http: httpx.Client, url: str, token: Token | None, limits: Limits) -> None:
        self._http = http
        self._url = url
        self._token = token if isinstance(token, str) else None
        self._ask = None if isinstance(token, str) else token
        self._limits = limits

    def call(self, request: Request) -> Reply | Broken:
        """Send a request whose answer is no stream."""
        with _Body() as body:
            return self.open(request, body)

    def open(self, request: Request, body: _Body) -> Reply | Broken:
        """Send a request; a stream that comes for it is open in `body`."""
        try:
            response = self._answer(request)
            if is_stream(response):
                body.begin(response)
                return reply_to(response, b"", is_open=True)
            with closing(response):
                whole = bytearray()
                for data in response.iter_bytes():
                    whole += data
                    check_size(whole, self._limits)
                return reply_to(response, bytes(whole))
        except httpx.HTTPError as error:
            return broken(error)

    def _answer(self, request: Request) -> httpx.Response:
        if self._token is None and self._ask is not None:
            self._token = self._ask()
        response = self._attempt(request)
        if response.status_code == httpx.codes.UNAUTHORIZED and self._ask is not None:
            response.close()
            self._token = self._ask()
            response = self._attempt(request)
        return response

    def _attempt(self, request: Request) -> httpx.Response:
        sent = built(self._http, self._url, request, self._token, self._limits)
        return self._http.send(sent, stream=True)
