"""The order of frames, as the reference page of the wire has it (§5.1, §5.5, §10)."""

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.line import ClientLine, client, outline
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

HELLO = {"models", "user.joined", "audit_log user.joined", "audit_log user.prompt"}


async def second_of_two(revision: Revision) -> tuple[str, list[Json]]:
    """Bob asks while a turn of Ann runs: what he hears, and the id of her turn."""
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ann:
        await ann.prompt("hold")
        first = await ann.bind()
        await ann.hear("chunk")
        async with client(agent.url, "bob") as bob:
            await bob.settle()
            await bob.prompt("say 2 deltas")
            await bob.hear("status")
            agent.session("s1").release()
            await bob.finish(await bob.bind())
            await bob.hear("files-changed")
    return first, bob.received


def after_pong(frames: list[Json]) -> list[Json]:
    return frames[[frame["type"] for frame in frames].index("pong") + 1 :]


def without_first(words: list[str], word: str) -> list[str]:
    """The samples leave out what is told after the first turn by the way."""
    at = words.index(word)
    return words[:at] + words[at + 1 :]


async def test_the_sample_of_r() -> None:
    first, frames = await second_of_two("R")

    assert frames[0]["type"] == "init"
    assert frames[0]["data"]["runnerBusy"] is True
    frames = after_pong(frames)
    assert without_first(outline(frames), "files-changed") == [
        "message user",
        "audit_log user.prompt",
        "audit_log prompt.queued",
        "status promptQueued",
        "chunk",
        "message.updated finish",
        "audit_log agent.turn_complete",
        "status promptDequeued",
        "agentStatus idle",
        "agentStatus thinking",
        "agentStatus streaming",
        "message assistant",
        "chunk",
        "message.updated finish",
        "audit_log agent.turn_complete",
        "status runnerBusy",
        "agentStatus idle",
        "files-changed",
    ]
    echo, queued, foreign = frames[0]["data"], frames[3], frames[4]
    assert (echo["content"], echo["authorId"]) == ("say 2 deltas", "bob")
    assert "threadId" not in echo
    assert None not in echo.values()
    assert queued["data"] == {"promptQueued": True, "queuePosition": 1}
    assert foreign["messageId"] == first
    by_word = dict(zip([frame["type"] for frame in frames], frames, strict=True))
    assert by_word["status"]["data"] == {"runnerBusy": False}
    begun = next(f for f in frames if f["type"] == "message" and f["data"]["role"] == "assistant")
    assert begun["data"] == {
        "id": begun["data"]["id"],
        "role": "assistant",
        "content": "",
        "parts": [],
        "createdAt": begun["data"]["createdAt"],
        "channelType": "web",
        "channelId": "default",
    }
    last = by_word["message.updated"]["data"]
    assert last["parts"] == [
        {"type": "text", "text": "0 1 ", "streaming": False},
        {"type": "finish", "reason": "end_turn"},
    ]
    assert "createdAt" not in last
    assert begun["data"]["id"] == last["id"] not in {first, echo["id"]}


async def test_the_sample_of_v() -> None:
    first, frames = await second_of_two("V")

    init = frames[0]
    assert init["type"] == "init"
    assert (init["data"]["runnerBusy"], init["data"]["promptsQueued"]) == (True, 0)
    assert init["data"]["pendingPrompt"] is None
    hello = outline(frames)[1 : outline(frames).index("pong")]
    assert set(hello) == HELLO
    frames = after_pong(frames)
    words = without_first(outline(frames), "audit_log prompt.queued")
    assert without_first(words, "files-changed") == [
        "queue.state",
        "status promptQueued",
        "chunk",
        "message.updated finish",
        "audit_log agent.turn_complete",
        "message user",
        "audit_log user.prompt",
        "queue.state",
        "status promptDequeued",
        "agentStatus thinking",
        "agentStatus streaming",
        "message assistant",
        "chunk",
        "message.updated finish",
        "audit_log agent.turn_complete",
        "status runnerBusy",
        "files-changed",
    ]
    where = {"channelType": "web", "channelId": "default"}
    queues = [frame["data"] for frame in frames if frame["type"] == "queue.state"]
    prompt_id = queues[0]["pending"]["messageId"]
    assert queues == [
        {"pending": {"messageId": prompt_id, "content": "say 2 deltas"}},
        {"pending": None, "threadId": None},
    ]
    statuses = [frame["data"] for frame in frames if frame["type"] == "status"]
    assert statuses == [
        {
            "promptQueued": True,
            "queuePosition": 1,
            "queueReason": "busy",
            "messageId": prompt_id,
            **where,
        },
        {"promptDequeued": True, "remaining": 0, "messageId": prompt_id, **where},
        {"runnerBusy": False, "messageId": prompt_id},
    ]
    echo = next(f["data"] for f in frames if f["type"] == "message")
    assert (echo["id"], echo["authorId"]) == (prompt_id, "bob")
    assert echo["threadId"] is None
    assert echo["parts"] is None
    assert frames[3]["messageId"] == first


async def test_a_defers_the_echo_and_tells_no_ids() -> None:
    _, frames = await second_of_two("A")

    frames = after_pong(frames)
    words = outline(frames)
    assert words.index("status promptQueued") < words.index("message user")
    at = words.index("message user")
    assert words[at : at + 4] == [
        "message user",
        "audit_log user.prompt",
        "queue.state",
        "status promptDequeued",
    ]
    assert "agentStatus idle" not in words
    assert [frame["data"] for frame in frames if frame["type"] == "status"] == [
        {"promptQueued": True, "queuePosition": 1},
        {"promptDequeued": True, "remaining": 0},
        {"runnerBusy": False},
    ]


async def one_turn(line: ClientLine, prompt: str, **more: object) -> list[str]:
    await line.settle()
    start = len(line.received)
    await line.prompt(prompt, **more)
    await line.hear("files-changed")
    return outline(line.received[start:])


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_prompt_that_need_not_wait(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        words = await one_turn(ours, "what is 2+2?")

    assert words == [
        "message user",
        "audit_log user.prompt",
        "agentStatus thinking",
        "agentStatus streaming",
        "message assistant",
        "chunk",
        "agentStatus tool_calling",
        "message.updated",
        "message.updated",
        "message.updated",
        "agentStatus streaming",
        "chunk",
        "message.updated finish",
        "audit_log agent.turn_complete",
        "status runnerBusy",
        *(["agentStatus idle"] if revision == "R" else []),
        "files-changed",
    ]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_absent_fields_of_a_direct_echo_are_absent(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hello", channelType=None, channelId=None)
        echo = (await ours.hear("message"))["data"]

    assert set(echo) == {
        *("id", "role", "content", "authorId", "authorEmail", "authorName", "createdAt")
    }
    assert isinstance(echo["createdAt"], int)


async def test_on_a_no_agent_status_of_a_prompt_without_a_channel() -> None:
    async with SessionAgent(Habits(revision="A")) as agent, client(agent.url) as ours:
        words = await one_turn(ours, "say 1 deltas", channelType=None, channelId=None)

    assert not [word for word in words if word.startswith("agentStatus")]


async def test_the_sample_of_an_abort_on_v() -> None:
    async with SessionAgent() as agent, client(agent.url) as ours:
        await ours.prompt("hang", threadId="T")
        await ours.hear("chunk")
        await ours.settle()
        start = len(ours.received)
        await ours.say(type="abort", channelType="thread", channelId="T")
        await agent.until(lambda: not agent.session("s1").turns)
        await ours.settle()

    frames = [f for f in ours.received[start:] if f["type"] != "chunk"][:-1]
    thread = {"channelType": "thread", "channelId": "T"}
    idle = {"type": "agentStatus", "status": "idle"}
    assert outline(frames) == [
        "agentStatus idle",
        "audit_log user.abort",
        "agentStatus idle",
        "audit_log agent.turn_complete",
        "status runnerBusy",
        "agentStatus idle",
    ]
    assert [frames[0], frames[2], frames[5]] == [idle | thread, idle | thread, idle]
    assert set(frames[4]["data"]) == {"runnerBusy", "messageId"}
