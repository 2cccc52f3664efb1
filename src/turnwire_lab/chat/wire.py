"""One turn over HTTP, as a useChat client runs it: a POST, and the records of its stream.

Rule: every way a turn can end has a name here. A stream that ends without `finish` is broken, even
though the released clients would show it as a complete answer.
"""

import json
from collections.abc import Callable
from enum import Enum, auto
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import httpx
from httpx_sse import EventSource, SSEError, connect_sse

Chunk = dict[str, Any]

CONNECT_S: Final = 10.0
SILENCE_S: Final = 60.0
"""The gateway writes a comment every 15 s: after four missing ones it is gone."""

_WHAT_TO_DO: Final = {
    401: "the token was not accepted; pass a fresh one with --token or TURNWIRE_LAB_TOKEN",
    404: "there is no such session, or it is not yours to prompt",
    429: "too many streams are open for this user",
    503: "the gateway cannot take more right now",
}


class Ending(Enum):
    FINISHED = auto()
    FAILED = auto()
    """The agent, or the gateway for it, said `error`."""
    ABORTED = auto()
    STOPPED = auto()
    """By the person who asked."""
    REFUSED = auto()
    """No stream at all: the words say why."""
    BROKEN = auto()


class Conversation:
    """One chat in one session. The agent keeps its history; this keeps only the address."""

    def __init__(self, client: httpx.Client, *, url: str, session: str, token: str | None) -> None:
        self._client = client
        self._url = f"{url.rstrip('/')}/api/sessions/{quote(session, safe='')}/chat"
        self._headers = {} if token is None else {"authorization": f"Bearer {token.strip()}"}
        self._chat_id = uuid4().hex[:16]

    def turn(self, text: str, show: Callable[[Chunk], None]) -> tuple[Ending, str]:
        """Ask, show each chunk as it comes, and say how it ended and why.

        Ctrl-C leaves through here and closes the stream, which is how a client says stop.
        """
        asked = {"id": uuid4().hex[:16], "role": "user", "parts": [{"type": "text", "text": text}]}
        body = {"id": self._chat_id, "messages": [asked], "trigger": "submit-message"}
        # In an encoding that any pasted token has: what is wrong with it is for the gateway to say.
        headers = httpx.Headers(self._headers, encoding="utf-8")
        try:
            with connect_sse(self._client, "POST", self._url, json=body, headers=headers) as source:
                if source.response.status_code != httpx.codes.OK:
                    return Ending.REFUSED, _refusal(source.response)
                return _read(source, show)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            return Ending.REFUSED, f"{self._url} is no address of a gateway"
        except httpx.ConnectError:
            return Ending.REFUSED, f"nothing answers at {self._url}"
        except httpx.TimeoutException:
            return Ending.BROKEN, f"nothing was heard for {SILENCE_S:.0f} s"
        except httpx.HTTPError:
            return Ending.BROKEN, "the connection broke in the middle"


def new_client() -> httpx.Client:
    # A proxy of the environment may buffer, and the gateway is mostly on this machine.
    timeout = httpx.Timeout(CONNECT_S, read=SILENCE_S)
    return httpx.Client(timeout=timeout, trust_env=False)


def _read(source: EventSource, show: Callable[[Chunk], None]) -> tuple[Ending, str]:
    ending, why = Ending.FINISHED, ""
    finished = False
    try:
        for record in source.iter_sse():
            if record.data == "[DONE]":
                break
            chunk = _chunk(record.data)
            if chunk is None:
                return Ending.BROKEN, f"a record is no chunk: {record.data[:80]!r}"
            show(chunk)
            match chunk["type"]:
                case "finish":
                    finished = True
                case "error":
                    ending, why = Ending.FAILED, str(chunk.get("errorText", "no reason given"))
                case "abort":
                    ending, why = Ending.ABORTED, "the turn was canceled"
                case _:
                    pass  # only these three say how a turn ends
    except SSEError:
        return Ending.BROKEN, "the answer is no event stream; is this a gateway?"
    if not finished:
        return (
            Ending.BROKEN,
            why or "the stream ended without `finish`; the answer may be cut short",
        )
    return ending, why


def _chunk(data: str) -> Chunk | None:
    try:
        chunk = json.loads(data)
    except ValueError:
        return None
    return chunk if isinstance(chunk, dict) and isinstance(chunk.get("type"), str) else None


def _refusal(response: httpx.Response) -> str:
    response.read()
    try:
        told = response.json()
    except ValueError:
        told = {}
    said = told.get("error") if isinstance(told, dict) else None
    words = [f"{response.status_code}: {said or response.reason_phrase}"]
    if hint := _WHAT_TO_DO.get(response.status_code):
        words.append(f"({hint})")
    if after := response.headers.get("retry-after"):
        words.append(f"- try again in {after} s")
    return " ".join(words)
