"""One turn over real sockets, from the POST to the last byte."""

import asyncio

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, answer
from gateway.clients import chunks, is_whole, outline, post, said
from gateway.lateness import lateness
from gateway.running import Gateway
from gateway.tokens import token
from gateway.waiting import open_to, until

pytestmark = pytest.mark.sockets


async def test_a_turn_is_streamed_from_its_start_to_done() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert response.status_code == 200
    assert said(response.text) == "Hello world"
    assert outline(response.text) == [
        *("start", "start-step", "text-start", "text-delta", "text-delta", "text-end"),
        *("finish-step", "finish"),
    ]
    assert chunks(response.text)[0]["messageId"] == frames.TURN
    assert is_whole(response.text)
    assert response.text.startswith(": keepalive\n\n")
    await until(lambda: gateway.ended("completed") == 1)


async def test_the_headers_of_a_stream_are_those_that_proxies_and_clients_need() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway, headers={"x-request-id": "r-1", "accept-encoding": "gzip"})

    assert {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache, no-transform",
        "x-accel-buffering": "no",
        "x-vercel-ai-ui-message-stream": "v1",
        "x-request-id": "r-1",
    }.items() <= dict(response.headers).items()
    assert "content-encoding" not in response.headers


async def test_the_prompt_goes_out_right_after_the_handshake_and_names_its_channel() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        await post(gateway, text="how much?", params={"channelType": "slack", "channelId": "C 1"})
        prompt = agent.lines[0].heard[0]

    assert len(prompt.pop("promptId")) == 32
    assert prompt == {
        "type": "prompt",
        "content": "how much?",
        "clientMessageId": "m1",
        "channelType": "slack",
        "channelId": "C 1",
        "queueMode": "followup",
    }


async def test_after_finalize_the_agent_hears_a_goodbye_and_no_abort() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        await post(gateway)
        line = agent.lines[0]
        await line.connection.wait_closed()

        assert [frame["type"] for frame in line.heard] == ["prompt"]
        assert line.connection.close_code == 1000


async def test_an_agent_that_ignores_the_goodbye_is_cut_within_a_second() -> None:
    async def deaf(line: Line) -> None:
        await line.begin()
        line.connection.transport.pause_reading()
        await line.say(frames.finalize())

    async with ScriptedAgent(deaf) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)
        line = agent.lines[0]
        await open_to(agent.port, 0)

        assert is_whole(response.text)
        assert not line.closed


async def test_deltas_told_twice_are_sent_once_and_a_hundred_thousand_arrive_in_order() -> None:
    words = [f"{number} " for number in range(100_000)]

    async def both_spellings(line: Line) -> None:
        await line.begin()
        for start in range(0, len(words), 1000):
            told = [
                frames.text(spelling(word)).encode()
                for word in words[start : start + 1000]
                for spelling in (frames.chunk_text, frames.delta)
            ]
            await line.raw(b"".join(map(frames.raw, told)))
        await line.say(frames.finalize())

    async with ScriptedAgent(both_spellings) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert said(response.text) == "".join(words)
    assert is_whole(response.text)
    assert gateway.counted("turnwire_deltas_doubled_total") == 100_000
    assert gateway.counted("turnwire_frames_total") == 200_002


async def test_the_agent_hears_the_users_own_token_and_the_request_id() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        mine = token()
        await post(gateway, headers={"authorization": f"Bearer {mine}", "x-request-id": "r-7"})
        headers = agent.lines[0].headers

    assert headers["authorization"] == f"Bearer {mine}"
    assert headers["x-request-id"] == "r-7"
    assert headers["user-agent"].startswith("turnwire/")
    assert "x-turnwire-user" not in headers


async def test_with_service_authentication_the_user_is_named_beside_the_gateways_token() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), agent_auth="service", agent_token="a-service") as gateway,
    ):
        await post(gateway, user="zoë@example\r\nx: y")
        headers = agent.lines[0].headers

    assert headers["authorization"] == "Bearer a-service"
    assert headers["x-turnwire-user"] == "zo%C3%AB@example%0D%0Ax:%20y"


async def test_without_authentication_no_token_goes_to_the_agent() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url(), agent_auth="none") as gateway:
        await post(gateway, user="u1")
        headers = agent.lines[0].headers

    assert "authorization" not in headers
    assert headers["x-turnwire-user"] == "u1"


async def test_neither_compression_nor_a_sub_protocol_is_offered() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)
        headers = agent.lines[0].headers

    assert is_whole(response.text)
    assert "sec-websocket-extensions" not in headers
    assert "sec-websocket-protocol" not in headers


@pytest.mark.parametrize("session", ["s1", "a:b", "A_b.c-d", "x" * 128])
async def test_a_session_id_reaches_the_agent_as_it_was_given(session: str) -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        await post(gateway, session=session)

        assert agent.lines[0].path == f"/api/sessions/{session}/ws"


async def test_fragments_are_joined_even_inside_a_character_and_around_a_ping() -> None:
    told = frames.text(frames.delta("Grüße")).replace("\\u00fc", "ü").replace("\\u00df", "ß")
    whole = told.encode()
    cut = whole.index("ü".encode()) + 1

    async def fragments(line: Line) -> None:
        await line.begin()
        await line.raw(frames.raw(whole[:cut], fin=False))
        await line.raw(frames.raw(b"", opcode=0, fin=False))
        await line.raw(frames.raw(b"?", opcode=9))
        await line.raw(frames.raw(whole[cut:], opcode=0))
        await line.say(frames.finalize())

    async with ScriptedAgent(fragments) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert said(response.text) == "Grüße"
    assert is_whole(response.text)


@pytest.mark.parametrize(("count", "size"), [(900, 1), (20_000, 300)])
async def test_many_fragments_are_one_frame(count: int, size: int) -> None:
    whole = frames.text(frames.delta("x" * count * size)).encode()
    cuts = range(0, len(whole), size)
    pieces = [frames.raw(whole[i : i + size], opcode=0 if i else 1, fin=False) for i in cuts]

    async def dust(line: Line) -> None:
        await line.begin()
        await line.raw(b"".join(pieces) + frames.raw(b"", opcode=0))
        await line.say(frames.finalize())

    async with ScriptedAgent(dust) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert said(response.text) == "x" * count * size


async def test_a_ping_of_the_agent_is_answered_while_the_turn_runs() -> None:
    async def ping_first(line: Line) -> None:
        await (await line.connection.ping("still there?"))
        await answer(line)

    async with ScriptedAgent(ping_first) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert is_whole(response.text)


async def test_frames_that_came_with_the_handshakes_answer_are_heard() -> None:
    """An agent that sends `init` at once has it in the same packet."""

    async def init_first(line: Line) -> None:
        await line.say({"type": "init", "data": {"runnerBusy": True}})
        await line.prompt()
        await line.say({"type": "complete"})
        await answer(line)

    async with ScriptedAgent(init_first) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    statuses = [c["data"]["status"] for c in chunks(response.text) if "agent-status" in c["type"]]
    assert statuses == ["queued"]
    assert said(response.text) == "Hello world"


async def test_event_lines_can_be_turned_off_and_usage_on() -> None:
    usage = {"promptTokens": 1, "completionTokens": 2, "totalTokens": 3}

    async def with_usage(line: Line) -> None:
        await line.begin()
        await line.say(frames.finalize(usage=usage))

    async with (
        ScriptedAgent(with_usage) as agent,
        Gateway(agent.url(), event_lines="false", usage="true") as gateway,
    ):
        response = await post(gateway)

    assert "event:" not in response.text
    assert chunks(response.text)[-1]["messageMetadata"] == {"usage": usage}


async def test_frames_that_make_no_sense_are_dropped_and_counted() -> None:
    async def babble(line: Line) -> None:
        await line.begin()
        for nonsense in ("not json", "[1,2", '{"type":7}', '{"type":"message.create"}', "[" * 99):
            await line.connection.send(nonsense)
        await line.say({"type": "brand.new"}, frames.delta("theirs", turn="other"))
        await line.say(frames.delta("ours"), frames.finalize())

    async with ScriptedAgent(babble) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert said(response.text) == "ours"
    assert gateway.counted("turnwire_frames_malformed_total") == 5
    assert gateway.counted("turnwire_frames_unrecognised_total", type="brand.new") == 1
    assert gateway.counted("turnwire_frames_foreign_total") == 1


async def test_keepalives_fill_a_silence_longer_than_any_dial() -> None:
    async def pause(line: Line) -> None:
        await line.begin()
        await asyncio.sleep(1)  # the fact under test is about time
        await line.say(frames.finalize())

    async with (
        ScriptedAgent(pause) as agent,
        Gateway(agent.url(), keepalive_s=0.1, dial_s=0.9) as gateway,
        lateness() as late,
    ):
        response = await post(gateway)

    count = response.text.count(": keepalive\n\n")
    assert (9 - late.s / 0.1) <= count <= 15 + late.s / 0.1
    assert is_whole(response.text)


async def test_a_body_in_plain_text_is_taken_as_json() -> None:
    """`WorkflowChatTransport` sends it so."""
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway, headers={"content-type": "text/plain;charset=UTF-8"})

    assert response.status_code == 200
    assert agent.lines[0].heard[0]["content"] == "hi"
