"""One turn as it comes, chunk by chunk, to its `finish`.

Rule: a stream that merely ends is an error. Released clients show it as a complete answer.
"""

from collections.abc import AsyncIterator
from typing import Final

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError

from turnwire_lab.client import chunks
from turnwire_lab.client.building import Building
from turnwire_lab.client.chunks import Chunk, parse
from turnwire_lab.client.errors import Malformed, Truncated, TurnError
from turnwire_lab.client.message import UIMessage

DONE: Final = "[DONE]"


class Stream:
    """`async for chunk in stream`; afterwards `message` is whole.

    Every chunk is handed out, the `error` too; the iteration then ends with one
    of the errors below, or well.

    Raises:
        TurnError: the stream had an `error`.
        Truncated: it ended, or broke off, without `finish`.
        Malformed: it is not what a UI message stream may be.

    """

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.aborted = False
        """Whether the turn was canceled."""
        self._building = Building()
        self._error: str | None = None
        self._records = EventSource(response).aiter_sse()

    @property
    def message(self) -> UIMessage:
        """The message so far."""
        return self._building.message

    @property
    def turn_id(self) -> str | None:
        """The turn's id; None before its `start`, or where that has none."""
        return self.message.id or None

    async def end(self) -> UIMessage:
        """Read to the end, and return the whole message."""
        async for _ in self:
            pass
        return self.message

    def __aiter__(self) -> AsyncIterator[Chunk]:
        return self

    async def __anext__(self) -> Chunk:
        try:
            record = await self._next()
        except (SSEError, UnicodeError) as error:
            raise Malformed("the answer is no event stream; is this a gateway?") from error
        except httpx.TimeoutException as error:
            raise self._cut("nothing was heard any more") from error
        except httpx.HTTPError as error:
            raise self._cut("the connection broke in the middle") from error
        if record is None:
            self._ended()
            raise StopAsyncIteration
        chunk = parse(record)
        self._building.take(chunk)
        match chunk:
            case chunks.Error(text):
                self._error = text
            case chunks.Abort():
                self.aborted = True
            case _:
                pass  # only these two are an end
        return chunk

    async def aclose(self) -> None:
        """Read no more of it."""
        await self._records.aclose()

    async def _next(self) -> str | None:
        """The data of the next record that has any; None at the end of the stream."""
        record: ServerSentEvent
        async for record in self._records:
            if record.data == DONE:
                return None
            if record.data:
                return record.data
        return None

    def _ended(self) -> None:
        if self._error is not None:
            raise TurnError(self._error)
        if not self._building.has_finished:
            raise self._cut("the stream ended without `finish`; the answer may be cut short")

    def _cut(self, why: str) -> TurnError | Truncated:
        return Truncated(why) if self._error is None else TurnError(self._error)
