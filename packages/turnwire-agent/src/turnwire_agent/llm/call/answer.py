"""One attempt: a request is sent, and its answer read to its end."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Final

import msgspec

from turnwire_agent.llm.call.failed_error import FailedError
from turnwire_agent.llm.call.http import Post, Response
from turnwire_agent.llm.call.limits import Limits
from turnwire_agent.llm.call.unpacking import Unpacking
from turnwire_agent.llm.call.wire_tap import Tapped
from turnwire_agent.llm.events import Event, Finish
from turnwire_agent.llm.faults import Fault, of_error, of_response
from turnwire_agent.llm.shape import Decoder
from turnwire_agent.llm.sse import EventReader, TooLongError

OK: Final = 200
REDIRECTS: Final = range(300, 400)
NO_EVENTS: Final = frozenset({"application/json", "application/problem+json", "text/html"})
"""Types of a body that is surely no stream of events. Some servers give those another type too."""
DRAIN_S: Final = 0.1
"""How long the end of a body is waited for when the answer is whole: a connection whose body was
read to its end is used again."""


async def answer(
    post: Post, decoder: Decoder, limits: Limits, clock: Callable[[], float], wire: Tapped
) -> AsyncGenerator[Sequence[Event], None]:
    """What the answer says, as it comes. The last event is a `Finish` or a `Fault`.

    When it is closed, or its task cancelled, the connection is closed before that is done.
    """
    try:
        response = await post.send(limits)
    except FailedError as failed:
        yield [failed.fault]
        return
    try:
        wire.answered(response.head)
        if response.status == OK and _media_type(response) not in NO_EVENTS:
            async with aclosing(_read(response, decoder, limits, wire)) as batches:
                async for batch in batches:
                    yield batch
        else:
            yield [await _refusal(response, limits, clock, wire)]
    finally:
        wire.end()
        await response.aclose()


async def _read(
    response: Response, decoder: Decoder, limits: Limits, wire: Tapped
) -> AsyncGenerator[Sequence[Event], None]:
    reader = EventReader()
    any_event = False
    try:
        unpacking = Unpacking(response.headers.get("content-encoding", ""), limits.answer_bytes)
        while piece := await response.chunk():
            text = unpacking.feed(piece)
            wire.received(text)
            batch: list[Event] = []
            for event in reader.feed(text):
                any_event = True
                batch += decoder.event(event)
            if batch:
                yield batch
                if isinstance(batch[-1], Finish):
                    await _drain(response, wire)
                if isinstance(batch[-1], Finish | Fault):
                    return
            if unpacking.cut:
                message = f"The answer is longer than {limits.answer_bytes} bytes."
                yield [Fault(kind="malformed", message=message)]
                return
    except TooLongError:
        yield [Fault(kind="malformed", message="An event of the answer is too long.")]
    except FailedError as failed:
        # What broke after the provider's last word has broken nothing.
        last = decoder.end()
        yield last if isinstance(last[-1], Finish) else [failed.fault]
    else:
        if any_event or _media_type(response) == "text/event-stream":
            yield decoder.end()
        else:
            yield [Fault(kind="malformed", message="The answer is no stream of events.")]


async def _refusal(
    response: Response, limits: Limits, clock: Callable[[], float], wire: Tapped
) -> Fault:
    """Why a response has no answer in it."""
    status = response.status
    if status in REDIRECTS:
        return Fault(
            kind="bad-request",
            status=status,
            message="The server redirects, and no redirect is followed: correct the base URL.",
        )
    body = await _beginning(response, limits, wire)
    if status != OK:
        return of_response(status, response.headers, body, clock())
    try:
        error: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        error = None
    if isinstance(error, dict) and error.get("error"):
        return of_error(error)
    return Fault(kind="malformed", message="The answer is no stream of events.")


async def _beginning(response: Response, limits: Limits, wire: Tapped) -> bytes:
    """The body, as far as it comes and may be read."""
    body = b""
    try:
        unpacking = Unpacking(response.headers.get("content-encoding", ""), limits.error_bytes)
        async with asyncio.timeout(limits.read_s):
            while not unpacking.cut and (piece := await response.chunk()):
                text = unpacking.feed(piece)
                wire.received(text)
                body += text
    except (FailedError, TimeoutError):
        pass
    return body


async def _drain(response: Response, wire: Tapped) -> None:
    try:
        async with asyncio.timeout(DRAIN_S):
            while piece := await response.chunk():
                wire.received(piece)
    except (FailedError, TimeoutError):
        return


def _media_type(response: Response) -> str:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()
