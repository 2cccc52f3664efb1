"""The reference agent's sessions: history, sockets that come and go, who may come in."""

import asyncio
import socket

import httpx
import jwt
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.line import line, text
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets


async def test_init_at_any_moment_continues_exactly_where_it_stops() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("flood 3000")
        await ours.hear("chunk")

        async def joined() -> tuple[str, Json, list[Json]]:
            async with line(agent.url) as late:
                init = await late.hear("init")
                entry = init["session"]["messages"][-1]
                before = "".join(part["text"] for part in entry["parts"])
                await late.hear("complete")
                return before, init, late.received

        for before, init, heard in await asyncio.gather(*(joined() for _ in range(8))):
            whole = "".join(f"{n} " for n in range(3000))
            assert init["data"]["runnerBusy"] is True
            assert init["data"]["runningTurnId"] == init["session"]["messages"][-1]["id"]
            assert before + text(heard) == whole
            assert before + text(heard, "chunk", "content") == whole


async def test_history_holds_what_was_asked_and_what_was_answered() -> None:
    async with ReferenceAgent() as agent:
        async with line(agent.url) as ours:
            for prompt_id in ("p1", "p2"):
                await ours.turn("2+2", prompt_id, clientMessageId="m1")
        async with line(agent.url) as later:
            init = await later.hear("init")

        entries = init["session"]["messages"]
        assert [e["role"] for e in entries] == ["user", "assistant"] * 2
        asked, answered = entries[:2]
        assert asked["parts"] == [{"type": "text", "text": "2+2", "streaming": False}]
        assert (asked["promptId"], asked["clientMessageId"]) == ("p1", "m1")
        assert entries[2]["clientMessageId"] == "m1"
        call = answered["parts"][1]
        assert call["result"] == {"expression": "2+2", "value": 4}
        assert [p["type"] for p in answered["parts"]] == ["text", "tool-call", "text", "finish"]
        assert answered["parts"][-1] == {"type": "finish", "reason": "end_turn"}
        assert init["data"] == {"runnerBusy": False, "promptsQueued": 0}


async def test_init_counts_the_prompts_that_wait() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("hang", "p1")
        await ours.ask("hello", "p2")
        await agent.until(lambda: agent.session("s1").queued == 1)
        async with line(agent.url) as later:
            init = await later.hear("init")

        assert init["data"]["promptsQueued"] == 1
        running, answer, waiting = init["session"]["messages"]
        assert (running["promptId"], "queued" in running) == ("p1", False)
        assert (answer["promptId"], answer["role"]) == ("p1", "assistant")
        assert (waiting["promptId"], waiting["queued"]) == ("p2", True)
        assert (waiting["channelType"], waiting["channelId"]) == ("web", "default")


async def test_a_dead_socket_does_not_stop_the_others() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        async with line(agent.url) as dead:
            await ours.ask("flood 2000")
            await ours.hear("chunk")
            dead.socket.transport.abort()
            final = await ours.hear("message.finalize")

        assert final["finalText"].endswith("1999 ")


async def test_a_socket_that_does_not_read_is_cut_off_and_the_others_hear_on() -> None:
    habits = Habits(buffer_bytes=256 * 1024)
    async with ReferenceAgent(habits) as agent, line(agent.url) as ours:
        stalled = socket.socket()
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stalled.connect(("127.0.0.1", agent.port))
        url = agent.url.format(session_id="s1")
        async with connect(url, sock=stalled, max_queue=1, close_timeout=0.1):
            await ours.ask("flood 100000")
            await ours.hear("message.create")
            hearing = asyncio.create_task(ours.hear("message.finalize"))
            await agent.until(lambda: agent.connections == 1)
            await ours.say(type="abort", promptId="p1")
            final = await hearing

        assert final["finalText"] == text(ours.received)


async def test_what_was_heard_can_be_looked_at_and_nonsense_is_skipped() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.socket.send("no json")
        await ours.socket.send(b"\xff\x00")
        await ours.say(type="answer", questionId="q1", answer="yes")
        await ours.say(type="prompt", content=7)
        await ours.say(type="ping")
        await ours.hear("pong")

        assert [f["type"] for f in agent.received] == ["answer", "prompt", "ping"]
        assert agent.connections == 1


async def test_an_attachment_alone_is_a_prompt() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        picture = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,"}
        frames = await ours.turn("", attachments=[picture])

        assert "With it came 1 file: image/png 0 bytes." in text(frames)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/sessions/a%0Ab/ws?role=client", 404),
        ("/api/sessions/../ws?role=client", 404),
        ("/somewhere", 404),
        ("/api/sessions/s1/ws?role=runner", 400),
    ],
)
async def test_other_doors_are_closed(path: str, status: int) -> None:
    async with ReferenceAgent() as agent:
        with pytest.raises(InvalidStatus) as refused:
            await connect(f"ws://127.0.0.1:{agent.port}{path}", proxy=None)

        assert refused.value.response.status_code == status


async def test_the_access_route_knows_whom_the_token_names() -> None:
    token = jwt.encode({"sub": "ann"}, "k" * 32)
    anonymous = jwt.encode({}, "k" * 32)
    async with ReferenceAgent() as agent, httpx.AsyncClient(trust_env=False) as http:
        url = agent.access_url.format(session_id="s1")
        named = await http.get(url, headers={"authorization": f"Bearer {token}"})
        opaque = await http.get(url, headers={"authorization": "Bearer x"})
        none = await http.get(url)
        odd = await http.get(url, headers=[(b"authorization", "Bearer é".encode())])
        nobody = await http.get(url, headers={"authorization": f"Bearer {anonymous}"})

        assert named.json() == {"role": "collaborator", "userId": "ann"}
        assert named.headers["content-type"] == "application/json"
        for stranger in (opaque, odd, nobody):
            assert stranger.json()["userId"].startswith("user-")
        assert none.status_code == 401


async def test_a_taken_port_is_an_oserror() -> None:
    async with ReferenceAgent() as agent:
        with pytest.raises(OSError, match="in use"):
            async with ReferenceAgent(port=agent.port):
                pass
