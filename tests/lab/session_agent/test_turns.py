"""What a turn looks like in each revision: its text, its tools, its failures (§5.4, §5.6, §5.7)."""

from pathlib import Path
from typing import Any

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.line import client, outline, text
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.session_agent.state.channel import Channel
from turnwire_lab.agents.session_agent.state.message import TurnEntry

pytestmark = pytest.mark.sockets

LATER: tuple[Revision, Revision] = ("A", "V")


async def frames_of(prompt: str, revision: Revision, **more: Any) -> list[Json]:
    """All frames of that prompt, from its echo on."""
    habits = Habits(revision=revision, **more)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.settle()
        start = len(ours.received)
        await ours.prompt(prompt)
        await ours.hear("files-changed")
        await ours.settle()
    return ours.received[start:-1]


def snapshots(frames: list[Json]) -> list[Json]:
    return [frame["data"] for frame in frames if frame["type"] == "message.updated"]


def turn_ids(frames: list[Json]) -> list[str]:
    messages = [f["data"] for f in frames if f["type"] == "message"]
    return [m["id"] for m in messages if m["role"] == "assistant" and m["content"] == ""]


def parts(snapshot: Json) -> list[str]:
    """Each part in a word, with what matters about it."""
    keys = {"text": "text", "tool-call": "status", "finish": "reason", "error": "message"}
    return [f"{part['type']} {part[keys[part['type']]]}" for part in snapshot["parts"]]


async def test_on_r_the_end_writes_over_every_text_part() -> None:
    frames = await frames_of("what is 2+2?", "R")

    pending, running, completed, last = snapshots(frames)
    assert [parts(s) for s in (pending, running, completed)] == [
        ["text Let me work that out. ", f"tool-call {status}"]
        for status in ("pending", "running", "completed")
    ]
    assert pending["content"] == "Let me work that out. "
    assert pending["parts"][1]["args"] == {}
    assert running["parts"][1]["args"] == {"expression": "2+2"}
    assert completed["parts"][1]["result"] == '{"expression":"2+2","value":4}'
    assert last["content"] == "2+2 is **4**.\n"
    assert parts(last) == [
        "text 2+2 is **4**.\n",
        "tool-call completed",
        "text 2+2 is **4**.\n",
        "finish end_turn",
    ]
    whole = "Let me work that out. 2+2 is **4**.\n"
    assert text(frames, turn_ids(frames)[0]) == whole


@pytest.mark.parametrize(
    ("revision", "second"), [("R", "one two three "), ("A", "two three "), ("V", "two three ")]
)
def test_a_text_part_after_a_tool(revision: Revision, second: str) -> None:
    turn = TurnEntry("t1", Channel(), revision, 0)
    turn.say("one ")
    turn.tool({"callId": "c1", "toolName": "bash", "status": "completed"})
    turn.say("two ")
    turn.say("three ")

    assert turn.written() == {
        "id": "t1",
        "role": "assistant",
        "content": "one two three ",
        "parts": [
            {"type": "text", "text": "one ", "streaming": False},
            {"type": "tool-call", "callId": "c1", "toolName": "bash", "status": "completed"},
            {"type": "text", "text": second, "streaming": True},
        ],
        "createdAt": 0,
    }


@pytest.mark.parametrize("revision", LATER)
async def test_later_the_segments_stay_apart(revision: Revision) -> None:
    frames = await frames_of("what is 2+2?", revision)

    last = snapshots(frames)[-1]
    assert last["content"] == "2+2 is **4**.\n"
    assert parts(last) == [
        "text Let me work that out. ",
        "tool-call completed",
        "text 2+2 is **4**.\n",
        "finish end_turn",
    ]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_failed_tool_is_not_a_failed_turn(revision: Revision) -> None:
    last = snapshots(await frames_of("make the tool fail", revision))[-1]

    call = last["parts"][1]
    assert (call["status"], call["error"]) == ("error", "Division by zero.")
    assert "result" not in call
    assert last["parts"][-1] == {"type": "finish", "reason": "end_turn"}


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("loudly", ["", " loudly"])
async def test_a_failed_turn_ends_in_both_parts(revision: Revision, loudly: str) -> None:
    frames = await frames_of(f"make the turn fail{loudly}", revision)

    ends = ["finish error", "error The agent was told to fail."]
    last = parts(snapshots(frames)[-1])
    assert last[1:] == (ends if revision == "R" else ends[::-1])
    assert outline(frames).count("error") == (1 if loudly else 0)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("error", ["", " with an object"])
async def test_a_prompt_may_fail_without_a_turn(revision: Revision, error: str) -> None:
    frames = await frames_of(f"fail at once{error}", revision)

    [told_error] = [frame for frame in frames if frame["type"] == "error"]
    assert isinstance(told_error["error"], dict if error else str)
    assert told_error["channelId"] == "default"
    assert told_error["messageId"] != frames[0]["data"]["id"]
    assert turn_ids(frames) == []
    assert "status runnerBusy" in outline(frames)


@pytest.mark.parametrize(("revision", "errors"), [("R", 1), ("A", 0), ("V", 0)])
async def test_later_an_error_without_a_channel_is_dropped(revision: Revision, errors: int) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("fail at once", channelId=None)
        await ours.status(runnerBusy=False)
        await ours.settle()

    assert outline(ours.received).count("error") == errors


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_completion_that_does_not_come_is_forced(revision: Revision) -> None:
    frames = await frames_of("fail and stall", revision, safety_s=0.01)

    words = outline(frames)
    assert words.index("error") < words.index("status runnerBusy")


@pytest.mark.parametrize("prompt", ["say nothing", "fail in silence", "speak at the end"])
async def test_on_r_a_turn_made_by_its_end_never_ends(prompt: str) -> None:
    frames = await frames_of(prompt, "R")

    assert outline(frames)[3:] == [
        "message assistant",
        "audit_log agent.turn_complete",
        "status runnerBusy",
        "agentStatus idle",
        "files-changed",
    ]


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("say nothing", ["finish end_turn"]),
        ("fail in silence", ["error The agent was told to fail.", "finish error"]),
        ("speak at the end", ["text All of this was told at the end.\n", "finish end_turn"]),
    ],
)
async def test_later_it_does(revision: Revision, prompt: str, expected: list[str]) -> None:
    frames = await frames_of(prompt, revision)

    assert [parts(snapshot) for snapshot in snapshots(frames)] == [expected]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_text_may_be_told_by_the_last_snapshot_alone(revision: Revision) -> None:
    frames = await frames_of("tool, then speak at the end", revision)

    last = snapshots(frames)[-1]
    assert last["content"] == "All of this was told at the end.\n"
    assert parts(last)[1:] == [f"text {last['content']}", "finish end_turn"]
    assert "chunk" not in outline(frames)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_last_snapshot_may_go_on_where_the_deltas_stopped(revision: Revision) -> None:
    frames = await frames_of("speak on at the end", revision)

    last = snapshots(frames)[-1]
    streamed = text(frames, last["id"])
    assert last["parts"][0]["text"] == last["content"] != streamed
    assert last["content"].startswith(streamed)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_tools_that_are_stuck_are_completed_after_the_end(revision: Revision) -> None:
    frames = await frames_of("stuck tool", revision)

    *_, ended, stuck, unseen = snapshots(frames)
    assert parts(ended)[1::2] == ["tool-call running", "finish end_turn"]
    assert parts(stuck)[1::2] == ["tool-call completed", "finish end_turn"]
    assert parts(unseen)[-2:] == ["finish end_turn", "tool-call completed"]
    assert set(unseen["parts"][-1]) == {"type", "callId", "toolName", "status"}
    assert "result" not in stuck["parts"][1]
    words = outline(frames)
    assert words.index("audit_log agent.turn_complete") > words.index("message.updated finish")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_two_tools_at_once(revision: Revision) -> None:
    last = snapshots(await frames_of("use two tools", revision))[-1]

    assert parts(last)[:2] == ["tool-call error", "tool-call completed"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_tool_may_be_seen_first_when_it_is_done(revision: Revision) -> None:
    frames = await frames_of("wait for an event", revision)

    assert parts(snapshots(frames)[0])[1] == "tool-call completed"
    assert parts(snapshots(frames)[-1])[-1] == "finish end_turn"


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_turn_may_be_canceled_by_the_agent_itself(revision: Revision) -> None:
    last = snapshots(await frames_of("change your settings", revision))[-1]

    assert last["parts"][-1] == {"type": "finish", "reason": "canceled"}


@pytest.mark.parametrize("revision", REVISIONS)
async def test_after_a_failover_the_prompt_goes_on_in_a_second_turn(revision: Revision) -> None:
    frames = await frames_of("fail over", revision)

    first, second = turn_ids(frames)
    switched = next(frame for frame in frames if frame["type"] == "model-switched")
    assert switched["messageId"] == frames[0]["data"]["id"]
    assert [snapshot["id"] for snapshot in snapshots(frames)] == [second]
    assert text(frames, first) == "The first model says this much. "
    assert text(frames, second) == "The second model says the rest.\n"
    assert outline(frames).count("audit_log agent.turn_complete") == 1


async def test_a_completion_may_come_before_the_end_of_its_turn() -> None:
    frames = await frames_of("complete early", "V")

    words = outline(frames)
    assert words.index("status runnerBusy") < words.index("message.updated finish")
    assert words.count("audit_log agent.turn_complete") == 1


@pytest.mark.parametrize("prompt", ["hang in a tool", "ask me"])
async def test_r_ends_a_turn_it_hears_nothing_of(prompt: str) -> None:
    frames = await frames_of(prompt, "R", premature_s=0.05)

    ended, flushed = snapshots(frames)[-2:]
    assert parts(ended)[-1] == "finish end_turn"
    assert "tool-call completed" in parts(flushed)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_noise_comes_in_every_shape(revision: Revision) -> None:
    frames = await frames_of("make noise", revision)

    entries = [f["data"] for f in frames if f["type"] == "message"]
    shapes = [type(entry.get("parts")) for entry in entries if entry["role"] == "system"]
    assert shapes == [dict, dict, type(None)]
    forwarded = next(e for e in entries if e["role"] == "assistant" and e["content"])
    assert forwarded["parts"] == {"forwarded": True}
    assert {"title", "git-state", "child-session", "toast", "error"} <= {f["type"] for f in frames}
    updated = next(f["data"] for f in frames if f["type"] == "message.updated")
    assert updated == {"id": entries[0]["id"], "parts": []}


async def test_the_search_finds_pages(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Time\nEvery 15 seconds a keepalive.\n")
    async with SessionAgent(docs=tmp_path) as agent, client(agent.url) as ours:
        await ours.prompt("search for keepalive")
        turn_id = await ours.bind()
        await ours.finish(turn_id)

    assert "- **Time** (`README.md`)" in text(ours.received, turn_id)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("say 300 deltas", "299 "),
        ("flood 2", "0 1 "),
        ("what time is it in Tokyo?", "In Tokyo it is"),
        ("what time is it in Nowhere?", "It did not help"),
        ("search for zzzzqqq", "Nothing found"),
        ("search for the", "No luck"),
        ("calculate 6*7", "6*7 is **42**."),
        ("be slow", "50 of 50"),
        ("hello  there", "> hello there"),
    ],
)
async def test_the_brain_answers(revision: Revision, prompt: str, expected: str) -> None:
    frames = await frames_of(prompt, revision, slow_s=0)

    assert expected in text(frames, turn_ids(frames)[0])
