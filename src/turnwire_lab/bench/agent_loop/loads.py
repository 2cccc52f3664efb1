"""Loads of turns, on a runtime or straight from the model's server, in one event loop."""

import asyncio
import gc
import re
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final, TypeVar

import uvloop
from msgspec import Struct

from turnwire_lab.bench.agent_loop.provider import Answer, Provider
from turnwire_lab.bench.agent_loop.session_socket import SessionSocket
from turnwire_lab.bench.agent_loop.stamps import ages_us
from turnwire_lab.process import HOST

T = TypeVar("T")

SETTLED_S: Final = 0.3
"""What opening turns leaves to do, is done by then."""
_WORD: Final = re.compile(rb'"content":"(\d{9} )')
_READ_BYTES: Final = 65_536


class Chunks(Struct, frozen=True):
    """What came of a load between its first and its last chunk."""

    ages_us: Sequence[int]
    """Of each chunk when it was read, in their order."""
    before: Any
    """What `reading` gave before it."""
    after: Any


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run it in an event loop that is fast enough for a rig, whose collector does not stop it."""
    gc.collect()
    gc.disable()
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(work)
    finally:
        gc.enable()


async def turns(
    port: int, model_port: int, sessions: Sequence[str], answer: Answer, reading: Callable[[], Any]
) -> Chunks:
    """Let turns run side by side. They are open before the first of them goes on.

    Args:
        port: Of the runtime.
        model_port: Where the model's server is to listen meanwhile.
        sessions: A turn in each.
        answer: Held until all are open.
        reading: The clocks of the rig.

    Raises:
        NotStartedError: not all of the text comes.

    """
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(Provider(model_port, answer))
        sockets = await asked(port, sessions, stack)
        await asyncio.gather(*(each.chunks(1) for each in sockets))
        await asyncio.sleep(SETTLED_S)
        for each in sockets:
            each.ages_us.clear()
        before = reading()
        provider.go.set()
        await asyncio.gather(*(each.chunks(answer.chunks) for each in sockets))
        after = reading()
        provider.end.set()
        await asyncio.gather(*(each.until("complete") for each in sockets))
        return Chunks([age for each in sockets for age in each.ages_us], before, after)


async def asked(port: int, sessions: Sequence[str], stack: AsyncExitStack) -> list[SessionSocket]:
    """Sockets that have asked, one in each session; the stack closes them."""
    sockets = []
    for session in sessions:
        socket = await SessionSocket.open(port, session)
        stack.callback(socket.close)
        socket.ask()
        sockets.append(socket)
    return sockets


async def direct(model_port: int, streams: int, answer: Answer) -> Sequence[int]:
    """The ages of the same chunks for who reads them from the model's server."""
    async with Provider(model_port, answer) as provider:
        reading = [asyncio.create_task(_read(model_port)) for _ in range(streams)]
        await asyncio.sleep(SETTLED_S)
        provider.go.set()
        provider.end.set()
        return [age for ages in await asyncio.gather(*reading) for age in ages[1:]]


async def _read(port: int) -> list[int]:
    reader, writer = await asyncio.open_connection(HOST, port)
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
    ages: list[int] = []
    rest = b""
    while True:
        data = rest + await reader.read(_READ_BYTES)
        ages += (age for found in _WORD.finditer(data) for age in ages_us(found[1]))
        if data.endswith(b"\r\n0\r\n\r\n"):
            writer.close()
            return ages
        found = data.rfind(b"\n\n")
        rest = data[found + 1 :] if found >= 0 else data


def quantile_ms(ages_us: Sequence[int], share: float) -> float:
    """So many of the ages are below this, in milliseconds."""
    ordered = sorted(ages_us)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1e3
