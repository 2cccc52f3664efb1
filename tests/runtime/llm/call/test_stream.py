import asyncio
import logging
from contextlib import aclosing

import pytest

from runtime.llm.call.called import (
    ANSWER,
    KEY,
    PROMPT,
    REQUEST,
    Caller,
    Key,
    chunk,
    fault,
    model,
    text,
)
from runtime.llm.scripted_server import (
    CHUNKED_HEAD,
    STREAM_HEAD,
    Asked,
    Script,
    ScriptedServer,
    chunked,
    response,
    sends,
    sends_then_silent,
)
from runtime.llm.streams import sse
from turnwire_agent.llm.call.http import http_client
from turnwire_agent.llm.call.stream import CallSettings, stream
from turnwire_agent.llm.credentials.port import CredentialError, Failure
from turnwire_agent.llm.events import Begun, Event, Finish, TextDelta
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.transcript import Assistant, File, Reasoning, Text, User

WHOLE = sends(STREAM_HEAD + ANSWER)
BUSY = sends(response(503, {"error": {"message": "busy", "type": "overloaded_error"}}))


async def answered(*scripts: Script, credential: Key | None = None) -> tuple[list[Event], Caller]:
    caller = Caller()
    async with ScriptedServer(list(scripts)) as server:
        events = await caller.ask(server, credential)
    return events, caller


async def test_an_answer_is_told_from_its_beginning_to_its_finish() -> None:
    async with ScriptedServer([WHOLE]) as server:
        events = await Caller().ask(server)
        asked: Asked = server.asked[0]

    assert events[0] == Begun("a1", "tiny-1")
    assert text(events) == "Hello"
    assert isinstance(events[-1], Finish)
    assert asked.line == "POST /v1/chat/completions HTTP/1.1"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["accept"] == "text/event-stream"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["user-agent"].startswith("turnwire-agent/")
    assert PROMPT.encode() in asked.body


async def test_the_bytes_may_come_one_by_one() -> None:
    body = STREAM_HEAD + ANSWER
    events, _ = await answered(sends(*(body[n : n + 1] for n in range(len(body)))))

    assert events == (await answered(WHOLE))[0]


async def test_an_answer_that_is_cut_anywhere_is_no_answer() -> None:
    whole, _ = await answered(WHOLE)
    ends = range(0, len(ANSWER) - len(b"data: [DONE]\n\n") - 100, 7)
    for end in ends:
        events, caller = await answered(sends(STREAM_HEAD + ANSWER[:end]))

        assert fault(events).kind == "truncated"
        assert "Hello".startswith(text(events))
        assert events[:-1] == whole[: len(events) - 1]
        assert caller.waits == ([] if text(events) else [0.25, 0.5])


async def test_what_the_transport_cuts_after_the_last_word_is_whole() -> None:
    events, _ = await answered(sends(CHUNKED_HEAD + chunked([ANSWER])[:-7]))

    assert isinstance(events[-1], Finish)


async def test_a_chunked_body_that_is_cut_is_truncated() -> None:
    events, _ = await answered(sends(CHUNKED_HEAD + chunked([ANSWER])[:60]))

    assert fault(events).kind == "truncated"


# --- again before the first byte, and not after it ---


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_busy_server_is_asked_three_times(status: int) -> None:
    caller = Caller()
    async with ScriptedServer([sends(response(status))]) as server:
        events = await caller.ask(server)

    assert len(server.asked) == 3
    assert fault(events).status == status
    assert len(events) == 1
    assert caller.waits == [0.25, 0.5]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_request_that_is_wrong_is_sent_once(status: int) -> None:
    caller = Caller()
    async with ScriptedServer([sends(response(status))]) as server:
        events = await caller.ask(server)

    assert len(server.asked) == 1
    assert fault(events).status == status
    assert caller.waits == []


async def test_the_second_attempt_may_go_well() -> None:
    events, caller = await answered(BUSY, WHOLE)

    assert text(events) == "Hello"
    assert caller.waits == [0.25]


@pytest.mark.parametrize(
    ("headers", "waits"),
    [
        ({"retry_after": "7"}, [7, 7]),
        ({"retry_after": "Wed, 25 Nov 2026 23:00:09 GMT"}, [9, 9]),
        ({"retry_after_ms": "1500"}, [1.5, 1.5]),
        ({"retry_after": "61"}, []),
        ({"retry_after": "Wed, 25 Nov 2026 23:01:01 GMT"}, []),
    ],
)
async def test_what_the_server_asks_is_waited_or_too_long(
    headers: dict[str, str], waits: list[float]
) -> None:
    events, caller = await answered(sends(response(429, b"", **headers)))

    assert caller.waits == waits
    assert fault(events).retry_after_s == (waits[0] if waits else 61)


async def test_an_error_in_the_stream_before_any_text_is_an_attempt() -> None:
    error = {"error": {"message": "busy", "type": "overloaded_error"}}
    begun = chunk(role="assistant")
    events, caller = await answered(sends(STREAM_HEAD + sse(begun, error)), WHOLE)

    assert caller.waits == [0.25]
    assert [event for event in events if isinstance(event, Begun)] == [Begun("a1", "tiny-1")]
    assert text(events) == "Hello"


async def test_an_error_after_text_is_the_last_event() -> None:
    error = {"error": {"message": "busy", "type": "overloaded_error"}}
    events, caller = await answered(sends(STREAM_HEAD + sse(chunk(content="Hel"), error)), WHOLE)

    assert fault(events).kind == "overloaded"
    assert text(events) == "Hel"
    assert caller.waits == []


# --- credentials ---

REFUSED = sends(response(401, {"error": {"message": f"wrong: {KEY}", "code": KEY}}))


async def test_a_refused_key_is_renewed_once_and_no_attempt_is_lost() -> None:
    credential = Key("old-key-0123", "new-key-4567")
    caller = Caller()
    async with ScriptedServer([REFUSED, BUSY, BUSY, WHOLE]) as server:
        events = await caller.ask(server, credential)

    assert text(events) == "Hello"
    assert credential.refusals == ["0123"]
    keys = [asked.headers["authorization"] for asked in server.asked]
    assert keys == ["Bearer old-key-0123"] + ["Bearer new-key-4567"] * 3
    assert caller.waits == [0.25, 0.5]


async def test_a_second_refusal_is_the_verdict() -> None:
    credential = Key("old-key-0123", "new-key-4567", "any-key-89ab")
    async with ScriptedServer([REFUSED]) as server:
        events = await Caller().ask(server, credential)

    assert fault(events).kind == "unauthorized"
    assert len(server.asked) == 2
    assert credential.refusals == ["0123"]


async def test_a_key_that_cannot_be_renewed_is_the_verdict() -> None:
    credential = Key("old-key-0123", CredentialError(Failure("log-in", "Log in again.")))
    async with ScriptedServer([REFUSED]) as server:
        events = await Caller().ask(server, credential)

    assert events == [Fault(kind="unauthorized", message="Log in again.")]
    assert len(server.asked) == 1


async def test_no_key_no_request() -> None:
    missing = CredentialError(Failure("missing", "No API key."))
    later = CredentialError(Failure("unavailable", "The token server is silent.", 3.0))
    async with ScriptedServer([WHOLE]) as server:
        assert fault(await Caller().ask(server, Key(missing))).kind == "unauthorized"
        events = await Caller().ask(server, Key(later))

    assert events == [
        Fault(kind="connection", message="The token server is silent.", retry_after_s=3.0)
    ]
    assert server.connections == 0


async def test_a_refusal_that_repeats_the_key_does_not_show_it() -> None:
    events, _ = await answered(REFUSED)

    assert fault(events).message == "wrong: [secret]"
    assert fault(events).code == "[secret]"


# --- who goes away ---


async def test_a_generator_that_is_closed_hangs_up_at_once() -> None:
    silent = sends_then_silent(STREAM_HEAD, sse(chunk(content="Hel")))
    async with http_client() as client, ScriptedServer([silent]) as server:
        events = stream(model(server.url), REQUEST, Key(), Caller(client=client).settings)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, TextDelta):
                    break
        await server.hung_up.wait()


@pytest.mark.parametrize("pieces", [(), (STREAM_HEAD,), (STREAM_HEAD, sse(chunk(content="Hel")))])
async def test_a_cancelled_task_hangs_up_at_once(pieces: tuple[bytes, ...]) -> None:
    async with (
        http_client() as client,
        ScriptedServer([sends_then_silent(*pieces)]) as server,
    ):
        task = asyncio.create_task(Caller(client=client).ask(server))
        await server.was_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.hung_up.wait()


async def test_a_wait_can_be_cancelled() -> None:
    waiting = asyncio.Event()

    async def forever(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    async with ScriptedServer([BUSY]) as server:
        settings = CallSettings(sleep=forever)
        events = stream(model(server.url), REQUEST, Key(), settings)
        task = asyncio.ensure_future(anext(events))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(server.asked) == 1


# --- the client, and what cannot be sent ---


async def test_a_connection_whose_answer_was_whole_is_used_again() -> None:
    whole = sends(CHUNKED_HEAD + chunked([ANSWER]), stay=True)
    async with http_client() as client, ScriptedServer([whole]) as server:
        for _ in range(3):
            assert text(await Caller(client=client).ask(server)) == "Hello"

    assert (len(server.asked), server.connections) == (3, 1)


async def test_a_server_that_does_not_end_its_body_holds_nobody() -> None:
    async with ScriptedServer([sends_then_silent(STREAM_HEAD + ANSWER)]) as server:
        events = await Caller().ask(server)
        await server.hung_up.wait()

    assert isinstance(events[-1], Finish)


async def test_a_file_that_the_wire_does_not_have_is_named_before_anything_is_sent() -> None:
    request = Request(transcript=(User((File("video/mp4", b"x"),)),))
    async with ScriptedServer([WHOLE]) as server:
        events = [each async for each in stream(model(server.url), request, Key())]

    assert fault(events).kind == "bad-request"
    assert "video/mp4" in fault(events).message
    assert server.connections == 0


async def test_losses_are_told() -> None:
    losses: list[Loss] = []
    transcript = (
        User((Text("Hi"),)),
        Assistant((Reasoning("Hm"), Text("Yes"))),
        User((Text("?"),)),
    )
    async with ScriptedServer([WHOLE]) as server:
        settings = CallSettings(tell_losses=losses.extend)
        request = Request(transcript=transcript)
        events = [each async for each in stream(model(server.url), request, Key(), settings)]

    assert text(events) == "Hello"
    assert [loss.where for loss in losses] == ["messages[1].reasoning"]


# --- the log ---


async def test_the_log_has_a_line_for_each_attempt_and_nothing_of_what_was_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    slow = sends(response(429, {"error": {"message": PROMPT, "code": "slow"}}, retry_after="2"))
    late = sends(response(429, {"error": {"message": PROMPT}}, retry_after="3600"))
    cut = sends(STREAM_HEAD + sse(chunk(content="canary-answer")))

    await answered(REFUSED, slow, WHOLE, credential=Key(KEY, "new-key-0123"))
    await answered(late)
    await answered(cut)
    await answered(BUSY)
    async with ScriptedServer([sends_then_silent(STREAM_HEAD)]) as server:
        task = asyncio.create_task(Caller().ask(server))
        await server.was_asked.wait()
        task.cancel()
        await asyncio.wait([task])

    lines = [each.getMessage() for each in caplog.records if each.name == "turnwire_agent.llm.call"]
    asked = "model call: provider=local model=tiny attempt"
    assert lines == [
        f"{asked}=1 outcome=unauthorized status=401 code=[secret]: again, renewed",
        f"{asked}=1 outcome=rate-limited status=429 code=slow: again in 2.000 s",
        f"{asked}=2 outcome=stop",
        f"{asked}=1 outcome=rate-limited status=429 code=-: given up (long-wait), for 3600.000 s",
        f"{asked}=1 outcome=truncated status=0 code=-: given up (begun)",
        f"{asked}=1 outcome=overloaded status=503 code=overloaded_error: again in 0.250 s",
        f"{asked}=2 outcome=overloaded status=503 code=overloaded_error: again in 0.500 s",
        f"{asked}=3 outcome=overloaded status=503 code=overloaded_error: given up (attempts)",
        f"{asked}=1 outcome=abandoned",
    ]
    for canary in (KEY, PROMPT, "new-key", "canary-answer"):
        assert canary not in caplog.text


async def test_an_answer_that_came_whole_and_is_not_read_to_its_end_is_abandoned(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """All of it is in one read; what is in the log is how far it was heard."""
    caplog.set_level(logging.INFO, "turnwire_agent.llm.call")
    async with (
        ScriptedServer([WHOLE]) as server,
        aclosing(stream(model(server.url), REQUEST, Key())) as events,
    ):
        assert isinstance(await anext(events), Begun)
        async for event in events:
            if isinstance(event, TextDelta):
                break

    outcomes = [each.getMessage().partition("outcome=")[2] for each in caplog.records]
    assert outcomes == ["abandoned"]
