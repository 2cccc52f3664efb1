"""Agents that say what none says that means well: their streams end, soon and as such."""

import json
from collections.abc import Iterator

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import post
from gateway.frames import raw
from gateway.running import Gateway

pytestmark = pytest.mark.sockets

LONG_ID = "i" * 1_048_576


def text(frame: frames.Json) -> bytes:
    return raw(frames.text(frame).encode())


def fragments(piece: bytes) -> bytes:
    return raw(b"{", fin=False) + raw(piece, opcode=0, fin=False) * 3_000


def init(messages: str) -> bytes:
    return raw(b'{"type":"init","data":{},"session":{"messages":[%b]}}' % messages.encode())


NONSENSE = {
    "empty frames": raw(b"") * 3_000,
    "empty objects": raw(b"{}") * 3_000,
    "no JSON": raw(b"x") * 3_000,
    "numbers": raw(b"5") * 3_000,
    "frames without a type": text({"content": "x"}) * 3_000,
    "pings": raw(b"", opcode=9) * 3_000,
    "pongs": raw(b"", opcode=10) * 3_000,
    "fragments of a byte": fragments(b" "),
    "fragments of nothing": fragments(b""),
    "ids of a mebibyte": text({"type": "complete", "turnId": LONG_ID}) * 30,
    "prompts of a mebibyte": text({"type": "message.create", "turnId": "t", "promptId": LONG_ID})
    * 30,
    "channels of a mebibyte": text({"type": "error", "channelId": LONG_ID}) * 30,
    "an init of empty messages": init(",".join(["{}"] * 1_000_000)),
    "an init of numbers": init(",".join(["1"] * 1_000_000)),
    "an init of empty parts": init('{{"parts":[{}]}}'.format(",".join(["{}"] * 1_000_000))),
    "an init without a bottom": init("[" * 1_000_000),
    "a question of a million fields": text(
        {"type": "question", "questionId": "q", **dict.fromkeys(map(str, range(200_000)), 1)}
    ),
}


@pytest.mark.parametrize("said", NONSENSE.values(), ids=NONSENSE.keys())
@pytest.mark.attack(
    "an agent that sends long runs of frames without content: malformed ones, pings, tiny "
    "fragments, ids of a mebibyte, an `init` of a million messages",
    "its stream ends as `unsound`, before the gateway builds anything from them",
)
async def test_an_agent_that_talks_nonsense_is_not_listened_to(
    said: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    async def talk(line: Line) -> None:
        await line.begin()
        for _ in range(20):
            if line.is_open:
                await line.raw(said)

    async with ScriptedAgent(talk) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert "Stream interrupted" in response.text
    assert "outcome=unsound" in capsys.readouterr().out


def well_meant() -> Iterator[tuple[str, bytes]]:
    """What looks like it, and is not."""
    wrong = {"type": "message.part.text-delta", "delta": "no turn"}
    yield "drifted frames among good ones", (text(wrong) + text(frames.delta("."))) * 2_000
    yield "a word that is new", text({"type": "agentStatus", "status": "busy"}) * 3_000
    yield "pings now and then", (raw(b"", opcode=9) + text(frames.delta("."))) * 400
    yield "unknown types", text({"type": "novelty", "x": 1}) * 3_000
    yield (
        "a result of very many numbers",
        text({**frames.running_tool(), "status": "completed", "result": list(range(500_000))}),
    )
    yield (
        "a result of numbers that are none",
        raw(
            json.dumps(
                {**frames.running_tool(), "status": "completed", "result": [float("nan")] * 15_000}
            ).encode()
        ),
    )
    history = [
        {"id": f"m{i}", "role": "assistant", "parts": [{"type": "text", "text": "x" * 400}] * 5}
        for i in range(5_000)
    ]
    yield (
        "a long history",
        text({"type": "init", "data": {"runnerBusy": True}, "session": {"messages": history}}),
    )


@pytest.mark.parametrize(("what", "said"), list(well_meant()))
async def test_an_agent_that_means_well_is_heard_to_its_end(what: str, said: bytes) -> None:
    async def talk(line: Line) -> None:
        await line.begin()
        await line.raw(said)
        await line.say(frames.delta(" the end"))
        await line.say(frames.finalize())

    async with ScriptedAgent(talk) as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway)

    assert '" the end"' in response.text, what
    assert '"type":"error"' not in response.text
