"""What one asks of a session through the gateway.

The agent owns the history, so only the last message goes along with a request.
"""

import mimetypes
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self
from urllib.parse import quote
from uuid import uuid4

import httpx
import msgspec
from msgspec import Struct

from turnwire_lab.client import message
from turnwire_lab.client.errors import ClientError, Malformed, NothingAsked, Unreachable, refused
from turnwire_lab.client.message import UIMessage, read
from turnwire_lab.client.stream import Stream

CONNECT_S: Final = 10.0
SILENCE_S: Final = 60.0
"""The gateway writes a comment every 15 s: after four missing ones it is gone."""

OnDisconnect = Literal["abort", "continue", "grace"]
"""What becomes of the turn when its client hangs up."""


class File(Struct, frozen=True, kw_only=True, rename="camel", tag="file", omit_defaults=True):
    """A file that goes along with a prompt; `url` is a `data:` URL."""

    media_type: str
    url: str
    filename: str | None = None

    @classmethod
    def of(cls, path: Path) -> Self:
        """A file of this machine."""
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        url = f"data:{media_type};base64,{b64encode(path.read_bytes()).decode()}"
        return cls(media_type=media_type, url=url, filename=path.name)


class Receipt(Struct, frozen=True, rename="camel"):
    """What became of a stop: `stopped` if the agent canceled the turn for it."""

    stopped: bool
    turn_id: str | None
    reason: str
    waited_ms: int


class _Text(Struct, frozen=True, tag="text"):
    text: str


class _Message(Struct, frozen=True):
    id: str
    role: str
    parts: Sequence[File | _Text]


class _Chat(Struct, frozen=True, rename="camel", omit_defaults=True):
    id: str
    messages: Sequence[_Message]
    trigger: str
    message_id: str | None = None


_receipt = msgspec.json.Decoder(Receipt).decode


class Client:
    """`async with Client(url, session_id, token) as client:`; one chat in one session.

    Every request may raise `Refused`, `Unreachable` or `Malformed`.
    """

    def __init__(
        self,
        base_url: str,
        session_id: str,
        token: str | None,
        *,
        chat_id: str | None = None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        self.url = f"{base_url.rstrip('/')}/api/sessions/{quote(session_id, safe='')}"
        self.chat_id = chat_id or uuid4().hex[:16]
        self._query = dict(query or {})
        """Goes along with every request: the channel, for example."""
        self._asked: _Message | None = None
        headers = {} if token is None else {"authorization": f"Bearer {token.strip()}"}
        self._http = httpx.AsyncClient(
            # In an encoding that any pasted token has: the gateway answers what is wrong with it.
            headers=httpx.Headers(headers, encoding="utf-8"),
            timeout=httpx.Timeout(CONNECT_S, read=SILENCE_S, pool=None),
            limits=httpx.Limits(max_connections=None),
            trust_env=False,  # a proxy may buffer, and the gateway is mostly on this machine
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    @asynccontextmanager
    async def chat(
        self,
        text: str,
        *,
        files: Sequence[File] = (),
        on_disconnect: OnDisconnect | None = None,
        profile: str | None = None,
    ) -> AsyncIterator[Stream]:
        """Ask, and read the turn along. To leave the block early is to hang up."""
        texts = [_Text(text)] if text or not files else []
        self._asked = _Message(uuid4().hex[:16], "user", [*files, *texts])
        body = _Chat(self.chat_id, [self._asked], "submit-message")
        async with self._turn(body, on_disconnect, profile) as stream:
            yield stream

    @asynccontextmanager
    async def regenerate(
        self,
        *,
        message_id: str | None = None,
        on_disconnect: OnDisconnect | None = None,
        profile: str | None = None,
    ) -> AsyncIterator[Stream]:
        """Ask once more what was asked last. `message_id` is of the answer that is not wanted.

        Raises:
            NothingAsked: there is nothing, in the history neither.

        """
        self._asked = self._asked or _asked_in(await self.messages())
        body = _Chat(self.chat_id, [self._asked], "regenerate-message", message_id)
        async with self._turn(body, on_disconnect, profile) as stream:
            yield stream

    @asynccontextmanager
    async def resume(self, *, profile: str | None = None) -> AsyncIterator[Stream | None]:
        """Read the turn under way along, from its start; None if there is none."""
        url = f"{self.url}/chat/{quote(self.chat_id, safe='')}/stream"
        async with self._open("GET", url, _profile(profile), {}) as response:
            if response.status_code == httpx.codes.NO_CONTENT:
                yield None
            else:
                async with _streaming(response) as stream:
                    yield stream

    async def stop(self, turn_id: str | None = None) -> Receipt:
        """Stop the named turn, or whichever runs; it is over when this returns."""
        body = {} if turn_id is None else {"turnId": turn_id}
        response = await self._request("POST", "stop", body)
        try:
            return _receipt(response)
        except msgspec.DecodeError as error:
            raise Malformed("the answer is no receipt; is this a gateway?") from error

    async def answer(
        self, question_id: str, answer: object, approval_id: str | None = None
    ) -> None:
        """Answer an open question. `Refused` with 409 if it is closed, 404 if it is unknown.

        An approval goes with the id that its question has, where it has one.
        """
        body = {"questionId": question_id, "answer": answer}
        if approval_id is not None:
            body["approvalId"] = approval_id
        await self._request("POST", "answer", body)

    async def messages(
        self, limit: int | None = None, before: str | None = None
    ) -> list[UIMessage]:
        """The history, oldest first: the last `limit` messages before the one with that id."""
        asked = {"limit": limit, "before": before}
        query = {name: str(value) for name, value in asked.items() if value is not None}
        return read(await self._request("GET", "messages", query=query))

    @asynccontextmanager
    async def _turn(
        self, body: _Chat, on_disconnect: OnDisconnect | None, profile: str | None
    ) -> AsyncIterator[Stream]:
        query = {} if on_disconnect is None else {"onDisconnect": on_disconnect}
        headers = {"content-type": "application/json", **_profile(profile)}
        content = msgspec.json.encode(body)
        async with (
            self._open("POST", f"{self.url}/chat", headers, query, content) as response,
            _streaming(response) as stream,
        ):
            yield stream

    async def _request(
        self, method: str, what: str, body: object = None, *, query: Mapping[str, str] | None = None
    ) -> bytes:
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if content is None else {"content-type": "application/json"}
        async with self._open(
            method, f"{self.url}/{what}", headers, query or {}, content
        ) as response:
            try:
                return await response.aread()
            except httpx.HTTPError as error:
                raise Unreachable("the connection broke in the middle") from error

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        content: bytes | None = None,
    ) -> AsyncIterator[httpx.Response]:
        response = await self._send(method, url, headers, query, content)
        try:
            if not response.is_success:
                raise await _refusal(response)
            yield response
        finally:
            await response.aclose()

    async def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        content: bytes | None,
    ) -> httpx.Response:
        asked: dict[str, Any] = {"headers": headers, "params": {**self._query, **query} or None}
        try:
            request = self._http.build_request(method, url, content=content, **asked)
            return await self._http.send(request, stream=True)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise Unreachable(f"{url} is no address of a gateway") from error
        except httpx.ConnectError as error:
            raise Unreachable(f"nothing answers at {url}") from error
        except httpx.TimeoutException as error:
            raise Unreachable(f"{url} does not answer in time") from error
        except httpx.HTTPError as error:
            raise Unreachable(f"the connection to {url} broke") from error


def _asked_in(history: Sequence[UIMessage]) -> _Message:
    for entry in reversed(history):
        if entry.role == "user":
            files = [
                File(media_type=part.media_type, url=part.url, filename=part.filename)
                for part in entry.parts
                if isinstance(part, message.File)
            ]
            texts = [_Text(entry.text)] if entry.text else []
            return _Message(entry.id, "user", [*files, *texts])
    raise NothingAsked("nothing was asked yet")


async def _refusal(response: httpx.Response) -> ClientError:
    try:
        await response.aread()
    except httpx.HTTPError:
        return Unreachable("the connection broke in the middle")
    return refused(response)


@asynccontextmanager
async def _streaming(response: httpx.Response) -> AsyncIterator[Stream]:
    stream = Stream(response)
    try:
        yield stream
    finally:
        await stream.aclose()


def _profile(profile: str | None) -> dict[str, str]:
    return {} if profile is None else {"x-turnwire-profile": profile}
