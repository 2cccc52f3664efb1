import gzip
import zlib

import pytest

from runtime.llm.call.called import ANSWER, Caller, chunk, fault, text
from runtime.llm.scripted_server import (
    EVENT_STREAM,
    STREAM_HEAD,
    Connection,
    Script,
    ScriptedServer,
    head,
    response,
    sends,
    sends_then_silent,
)
from runtime.llm.streams import sse
from turnwire_agent.llm import sse as sse_module
from turnwire_agent.llm.call.limits import Limits
from turnwire_agent.llm.events import Event, Finish

SOON = Limits(read_s=0.05)
"""For servers that stay silent: the sooner it is noticed, the better."""
FIRST_WORD = sse(chunk(content="Hel"))


async def answered(*scripts: Script, limits: Limits | None = None) -> list[Event]:
    async with ScriptedServer(list(scripts)) as server:
        return await Caller(limits=limits or Limits()).ask(server)


@pytest.mark.parametrize("pieces", [(), (b"HTTP/1.1 200 O",), (STREAM_HEAD,)])
async def test_silence_before_any_text_is_a_timeout_of_each_attempt(
    pieces: tuple[bytes, ...],
) -> None:
    caller = Caller(limits=SOON)
    async with ScriptedServer([sends_then_silent(*pieces)]) as server:
        events = await caller.ask(server)

    assert fault(events).kind == "timeout"
    assert len(server.asked) == 3


async def test_silence_in_the_answer_is_a_timeout() -> None:
    events = await answered(sends_then_silent(STREAM_HEAD + FIRST_WORD), limits=SOON)

    assert fault(events).kind == "timeout"
    assert text(events) == "Hel"


async def test_a_head_that_comes_by_the_byte_is_a_timeout() -> None:
    async def dribble(connection: Connection) -> bool:
        await connection.send(b"HTTP/1.1 200 OK\r\n")
        for number in range(100_000):
            await connection.send(b"x-%d: y\r\n" % number)
            await connection.pause(0.01)
        return False

    limits = Limits(connect_s=0.1, read_s=0.1)
    async with ScriptedServer([dribble]) as server:
        events = await Caller(limits=limits).ask(server)

    assert fault(events).kind == "timeout"


async def test_silence_after_the_last_word_breaks_nothing() -> None:
    body = sse(chunk(content="Hello"), chunk("stop"))
    events = await answered(sends_then_silent(STREAM_HEAD + body), limits=SOON)

    assert isinstance(events[-1], Finish)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"id": "a1", "choices": [{"message": {"content": "Hello"}}]}', "application/json"),
        (b'{"id": "a1"}', "Application/JSON; charset=utf-8"),
        (b"<html>Log in to the hotel's network", "text/html"),
        (b"[" * 9000, "application/json"),
        (b"\xff\xfe", "application/json"),
        (b"Hello", "text/plain"),
        (b"", ""),
    ],
)
async def test_what_is_no_stream_of_events_is_malformed(body: bytes, kind: str) -> None:
    events = await answered(sends(response(200, body, content_type=kind)))

    assert fault(events).kind == "malformed"


async def test_an_empty_stream_is_truncated() -> None:
    assert fault(await answered(sends(STREAM_HEAD))).kind == "truncated"


async def test_an_error_with_a_status_of_success_is_what_it_says() -> None:
    error = {"error": {"message": "No.", "type": "authentication_error"}}
    events = await answered(sends(response(200, error, content_type="application/json")))

    assert (fault(events).kind, fault(events).message) == ("unauthorized", "No.")


async def test_a_stream_of_another_type_is_read() -> None:
    body = response(200, ANSWER, content_type="application/octet-stream")

    assert text(await answered(sends(body))) == "Hello"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed(status: int) -> None:
    async with ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as other:
        moved = sends(response(status, b"", location=f"{other.url}/chat/completions"))
        events = await answered(moved)

    assert (fault(events).kind, fault(events).status) == ("bad-request", status)
    assert other.connections == 0


@pytest.mark.parametrize("status", [201, 204, 418])
async def test_any_other_status_is_no_answer(status: int) -> None:
    events = await answered(sends(response(status, b"" if status == 204 else ANSWER)))

    assert (fault(events).kind, fault(events).status) == ("bad-request", status)


async def test_of_a_long_error_the_beginning_is_read() -> None:
    sent = 0

    async def flood(connection: Connection) -> bool:
        nonlocal sent
        await connection.send(head(400) + b"You sent too much. ")
        for _ in range(1000):
            await connection.send(b"x" * 10_000)
            sent += 10_000
        return False

    async with ScriptedServer([flood]) as server:
        events = await Caller().ask(server)
        await server.hung_up.wait()

    assert fault(events).message.startswith("You sent too much. xxx")
    assert sent < 10_000_000


@pytest.mark.parametrize("script", [sends, sends_then_silent])
async def test_an_error_whose_body_breaks_off_is_told_as_far_as_it_came(script: type) -> None:
    cut = head(400, {"content-length": "900"}) + b"You sent"
    events = await answered(script(cut), limits=SOON)

    assert (fault(events).status, fault(events).message) == (400, "You sent")


# --- bounds ---


async def test_a_flood_ends_at_the_bound() -> None:
    async def flood(connection: Connection) -> bool:
        await connection.send(STREAM_HEAD + FIRST_WORD)
        while True:
            await connection.send(b": nothing\n" * 1000)

    events = await answered(flood, limits=Limits(answer_bytes=1_000_000))

    assert fault(events).kind == "malformed"
    assert fault(events).message == "The answer is longer than 1000000 bytes."


async def test_an_answer_as_long_as_the_bound_is_whole() -> None:
    for more, kind in ((0, Finish), (-1, None)):
        limits = Limits(answer_bytes=len(ANSWER) + more)
        events = await answered(sends(response(200, ANSWER, **EVENTS)), limits=limits)

        assert isinstance(events[-1], Finish) == (kind is Finish)


EVENTS = {"content_type": EVENT_STREAM["content-type"]}


async def test_an_event_without_an_end_is_malformed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse_module, "LINE_BYTES", 1000)
    events = await answered(sends(STREAM_HEAD + FIRST_WORD + b"data: " + b"x" * 2000))

    assert fault(events).message == "An event of the answer is too long."


@pytest.mark.parametrize(
    ("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
async def test_an_answer_that_was_packed_on_its_way_is_read(encoding: str, pack: type) -> None:
    body = response(200, pack(ANSWER), content_encoding=encoding, **EVENTS)
    events = await answered(sends(*(body[n : n + 3] for n in range(0, len(body), 3))))

    assert text(events) == "Hello"
    assert isinstance(events[-1], Finish)


async def test_a_bomb_is_unpacked_to_the_bound() -> None:
    bomb = gzip.compress(FIRST_WORD + b": \n" * 20_000_000, mtime=0)
    limits = Limits(answer_bytes=1_000_000)
    events = await answered(
        sends(response(200, bomb, content_encoding="gzip", **EVENTS)), limits=limits
    )

    assert fault(events).message == "The answer is longer than 1000000 bytes."


async def test_a_bomb_in_an_error_is_unpacked_to_the_bound() -> None:
    bomb = gzip.compress(b"No! " * 20_000_000, mtime=0)
    events = await answered(sends(response(400, bomb, content_encoding="gzip")))

    assert fault(events).message.startswith("No! No!")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("br", ANSWER), ("gzip", ANSWER), ("gzip", gzip.compress(ANSWER, mtime=0)[:40])],
)
async def test_what_cannot_be_unpacked_is_a_fault(encoding: str, body: bytes) -> None:
    events = await answered(sends(response(200, body, content_encoding=encoding, **EVENTS)))

    assert fault(events).kind in {"malformed", "truncated"}
