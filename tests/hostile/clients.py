"""Hostile clients, with a token and without, and the agents that their sessions have."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from functools import partial
from typing import Any, Final

from gateway import frames
from gateway.clients import ask
from hostile.agents_v2 import encoded
from hostile.attack import KIB, MIB, ClientAttack, Script, flood
from hostile.line import Line
from hostile.world import Connection, World

BODY_BYTES: Final = 16 * MIB


async def many(count: int, one: Callable[[int], Coroutine[Any, Any, None]]) -> None:
    """So many at once."""
    async with asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(one(number))


# Agents of their sessions.


async def quiet(line: Line) -> None:
    """Begins its turn, and says no more."""
    asked = await line.prompt()
    await line.send(encoded(frames.create(asked["promptId"])))
    await line.end()


async def talkative(line: Line) -> None:
    """Three megabytes of an answer, at once."""
    asked = await line.prompt()
    await line.send(encoded(frames.create(asked["promptId"])))
    await line.send(_long_answer())
    await line.end()


def _init(*messages: frames.Json, **data: object) -> bytes:
    session = {"id": "s", "status": "running", "messages": messages}
    return encoded({"type": "init", "session": session, "data": data})


def _answer(size: int, **more: object) -> frames.Json:
    part = {"type": "text", "text": "And so on, as people say. " * (size // 26)}
    return {"id": "t1", "role": "assistant", "parts": [part], **more}


async def historian(line: Line) -> None:
    """A history of four megabytes, in a hundred answers."""
    await line.send(_history_frame())
    await line.end()


async def in_a_turn(line: Line) -> None:
    """A turn that runs, and has a megabyte behind it."""
    await line.send(_long_turn())
    await line.end()


# Made once: what the agent works at is time that the well-behaved do not have.


@functools.cache
def _long_answer() -> bytes:
    return encoded(frames.delta("And so on, as people say. ")) * 110_000


@functools.cache
def _history_frame() -> bytes:
    finish = {"type": "finish", "reason": "end_turn"}
    messages = [_answer(40_000, id=f"t{number}") for number in range(100)]
    for each in messages:
        each["parts"].append(finish)
    return _init(*messages, runnerBusy=False)


@functools.cache
def _long_turn() -> bytes:
    running = _answer(MIB, id=frames.TURN, promptId="p1", userId="mallory")
    return _init(running, runnerBusy=True, runningTurnId=frames.TURN)


# Bodies.


def slow_bodies(bearer: str | None) -> Callable[[World], Awaitable[None]]:
    async def one(world: World, _: int) -> None:
        begun = world.request(b" " * 1000, bearer=bearer)[:-1000]
        while True:
            async with world.connection() as connection:
                is_open = await connection.send(begun)
                while is_open:
                    await asyncio.sleep(0.2)
                    is_open = await connection.send(b" ")

    return lambda world: many(200, partial(one, world))


async def slow_heads(world: World) -> None:
    async def one(_: int) -> None:
        while True:
            async with world.connection() as connection:
                is_open = await connection.send(b"POST /api/sessions/s1/chat HTTP/1.1\r\nx-a: ")
                while is_open:
                    await asyncio.sleep(0.2)
                    is_open = await connection.send(b"a")

    await many(200, one)


def bodies(
    make: Callable[[], bytes], bearer: str | None = None, *, coding: str = ""
) -> Callable[[World], Awaitable[None]]:
    """The same body again and again, on two connections, as fast as it is read and answered."""

    async def run(world: World) -> None:
        body = make()
        await many(2, partial(one, world, body))

    async def one(world: World, body: bytes, _: int) -> None:
        chunked = {"transfer-encoding": coding, "content-length": ""} if coding else {}
        request = world.request(b"", bearer=bearer, headers=chunked)
        if not coding:
            request = request.replace(b"content-length: 0", b"content-length: %d" % len(body))
        while True:
            async with world.connection() as connection:
                sending = asyncio.create_task(_send_in_parts(connection, request, body))
                try:
                    await connection.answered()
                finally:
                    sending.cancel()
                    await asyncio.wait([sending])

    return run


async def _send_in_parts(connection: Connection, head: bytes, body: bytes) -> None:
    is_open = await connection.send(head)
    for at in range(0, len(body), 256 * KIB):
        if not is_open:
            return
        is_open = await connection.send(body[at : at + 256 * KIB])


def _filled(head: bytes, each: bytes, tail: bytes = b"") -> bytes:
    return head + each * ((BODY_BYTES - len(head) - len(tail)) // len(each)) + tail


def brackets() -> bytes:
    return _filled(b"", b"[")


def commas() -> bytes:
    return _filled(b'{"messages":[', b"0,", b"0]}")


def objects() -> bytes:
    return _filled(b'{"messages":[', b"{},", b"{}]}")


def escapes() -> bytes:
    return _filled(
        b'{"messages":[{"role":"user","parts":[{"type":"text","text":"', b"\\u0061", b'"}]}]}'
    )


def quotes() -> bytes:
    return _filled(b'{"messages":[', b'"\\"",', b"0]}")


def chunks() -> bytes:
    return _filled(b"", b"1\r\n \r\n")


def old_parts() -> bytes:
    """What `useChat` sends back with an answer, behind a very long turn."""
    return (
        b'{"id":"chat-1","messages":[{"id":"m1","role":"assistant","parts":['
        + b'{"type":"tool-a"},' * 190_000
        + b'{"type":"step-start"},{"type":"data-question","id":"q1",'
        b'"data":{"questionId":"q1","state":"answered","answer":true}}]}]}'
    )


# Those who read slowly, or say nothing.


def slow_readers(
    request: Callable[[World], bytes], count: int
) -> Callable[[World], Awaitable[None]]:
    """So many responses, each read at five kilobytes a second."""

    async def one(world: World, _: int) -> None:
        while True:
            async with world.connection(receive_buffer=8 * KIB) as connection:
                await connection.send(request(world))
                while await connection.read(5_000):  # noqa: ASYNC110 (this is how slow it is)
                    await asyncio.sleep(1)
            await asyncio.sleep(0.2)

    return lambda world: many(count, partial(one, world))


async def silent(world: World) -> None:
    async def one(_: int) -> None:
        while True:
            async with world.connection() as connection:
                await connection.read()

    await many(2_000, one)


# Those who ask without end.


def again(request: Callable[[World], bytes], count: int = 10) -> Callable[[World], Awaitable[None]]:
    """The same request on so many connections, each as soon as the last was answered."""

    async def one(world: World, _: int) -> None:
        asked = request(world)
        while True:
            async with world.connection() as connection:
                while await connection.send(asked) and await connection.answered():
                    pass

    return lambda world: many(count, partial(one, world))


def hang_ups(path: str) -> Callable[[World], Awaitable[None]]:
    """Prompts whose client leaves as soon as it is answered."""

    async def one(world: World, number: int) -> None:
        while True:
            async with world.connection() as connection:
                await connection.send(world.prompt(session=f"hostile-{number}", path=path))
                await connection.read()
                await connection.read()

    return lambda world: many(4, partial(one, world))


async def resumes(world: World) -> None:
    asked = world.request(path="chat/chat-1/stream", method="GET")

    async def one(_: int) -> None:
        while True:
            async with world.connection() as connection:
                await connection.send(asked)
                for _ in range(3):
                    await connection.read()

    await many(8, one)


async def long_heads(world: World) -> None:
    line = b"x-more: " + b"a" * 100 + b"\r\n"

    async def one(_: int) -> None:
        while True:
            async with world.connection() as connection:
                await connection.send(b"GET /healthz HTTP/1.1\r\nhost: a\r\n")
                await _pour_and_read(connection, line)

    await many(10, one)


async def _pour(connection: Connection, blocks: Iterator[bytes]) -> None:
    for block in blocks:
        if not await connection.send(block):
            return


async def _pour_and_read(connection: Connection, data: bytes) -> None:
    """Until the gateway closes."""
    pouring = asyncio.create_task(_pour(connection, flood(data)))
    try:
        await connection.read_all()
    finally:
        pouring.cancel()
        await asyncio.wait([pouring])


def pipelines(request: Callable[[World], bytes]) -> Callable[[World], Awaitable[None]]:
    """Requests behind requests, on five connections; the answers are read."""

    async def one(world: World, _: int) -> None:
        while True:
            async with world.connection() as connection:
                await _pour_and_read(connection, request(world))

    return lambda world: many(5, partial(one, world))


async def unread_pipelines(world: World) -> None:
    """The same, and nothing is read."""

    async def one(_: int) -> None:
        while True:
            async with world.connection(receive_buffer=8 * KIB) as connection:
                await _pour(connection, flood(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"))

    await many(5, one)


async def pictures(world: World) -> None:
    """Twenty prompts, each with a picture of twelve megabytes, whose turns go on."""
    data = "data:image/png;base64," + "iVBORw0KGgoAAAAN" + "A" * 11_900_000
    body = ask("Look!")
    body["messages"][0]["parts"].append({"type": "file", "mediaType": "image/png", "url": data})
    asked = world.request(body)

    async def one(number: int) -> None:
        await asyncio.sleep(0.1 * number)
        async with world.connection() as connection:
            await connection.send(asked)
            await connection.read_all()

    await many(20, one)


NO_TOKEN: Final = ""
MADE_UP: Final = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJlLXRoYXQtaXMtbm9uZQ"
"""A token of the right form."""


def _healthz(_: World) -> bytes:
    return b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"


def _history(world: World) -> bytes:
    return world.request(path="messages", method="GET")


def _made_up(world: World) -> bytes:
    return world.request(ask(), bearer=MADE_UP)


def _row(name: str, run: Callable[[World], Awaitable[None]], agent: Script = quiet) -> ClientAttack:
    return ClientAttack(name=name, run=run, agent=agent)


ROWS: Final = (
    _row("200 bodies, five bytes a second", slow_bodies(None)),
    _row("200 bodies, five bytes a second, no token", slow_bodies(NO_TOKEN)),
    _row("200 heads, five bytes a second", slow_heads),
    _row("16 MiB of brackets", bodies(brackets)),
    _row("16 MiB of brackets, no token", bodies(brackets, NO_TOKEN)),
    _row("16 MiB of commas", bodies(commas)),
    _row("16 MiB of empty messages", bodies(objects)),
    _row("16 MiB of escapes", bodies(escapes)),
    _row("16 MiB of escaped quotes", bodies(quotes)),
    _row("16 MiB in chunks of a byte", bodies(chunks, coding="chunked")),
    _row("16 MiB in chunks of a byte, no token", bodies(chunks, NO_TOKEN, coding="chunked")),
    _row("an answer behind 190,000 old parts", bodies(old_parts)),
    _row("60 slow readers of a history of 4 MB", slow_readers(_history, 60), historian),
    _row("a history of 4 MB, again and again", again(_history, 8), historian),
    _row("20 slow readers of a stream of 3 MB", slow_readers(World.prompt, 20), talkative),
    _row("2,000 connections that say nothing", silent),
    _row("made-up tokens", again(_made_up)),
    ClientAttack(
        name="made-up tokens, and a slow control plane",
        run=again(_made_up, 150),
        agent=quiet,
        tokens="opaque",
    ),
    _row("heads without end", long_heads),
    _row("requests behind requests", pipelines(_healthz)),
    _row("requests behind requests, no answer read", unread_pipelines),
    _row("histories behind histories", pipelines(_history), historian),
    _row("hang-ups in a loop", hang_ups("chat")),
    _row("hang-ups in a loop, with `continue`", hang_ups("chat?onDisconnect=continue")),
    _row("resumes in a loop, of a turn of 1 MB", resumes, in_a_turn),
    _row("20 pictures of 12 MB", pictures),
)
