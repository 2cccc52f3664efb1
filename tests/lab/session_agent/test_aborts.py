"""Stopping: what it hits in each revision, what it takes along, and what is told (§5.5)."""

import pytest

from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.line import client, outline
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

DEFAULT = {"channelType": "web", "channelId": "default"}


@pytest.mark.parametrize(
    ("revision", "expected"),
    [
        (
            "R",
            [
                *("agentStatus idle", "audit_log user.abort", "agentStatus idle"),
                *("status runnerBusy", "audit_log agent.turn_complete", "status runnerBusy"),
                "agentStatus idle",
            ],
        ),
        (
            "A",
            [
                *("agentStatus idle", "audit_log user.abort", "agentStatus idle"),
                *("audit_log agent.turn_complete", "status runnerBusy"),
            ],
        ),
        (
            "V",
            [
                *("agentStatus idle", "audit_log user.abort", "agentStatus idle"),
                *("audit_log agent.turn_complete", "status runnerBusy", "agentStatus idle"),
            ],
        ),
    ],
)
async def test_a_turn_that_is_stopped_gets_no_end(revision: Revision, expected: list[str]) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hang in a tool")
        turn_id = await ours.bind()
        await agent.until(lambda: any(t.id == turn_id for t in agent.session("s1").turns))
        await ours.hear("message.updated")
        await ours.hear("message.updated")
        start = len(ours.received)
        await ours.say(type="abort", **DEFAULT)
        await agent.until(lambda: not agent.session("s1").processing)
        await ours.settle()

    frames = ours.received[start:-1]
    assert outline(frames) == expected
    if revision == "R":
        assert frames[3]["data"] == {"runnerBusy": False, "aborted": True}
    assert "message.updated finish" not in outline(ours.received)
    [aborted] = agent.tally.aborts
    assert (aborted.by, aborted.thread, aborted.foreign) == ("ann", None, ())
    assert [hit.turn_id for hit in aborted.stopped] == [turn_id]
    assert agent.tally.finished == []


@pytest.mark.parametrize("revision", REVISIONS)
async def test_anybody_stops_anybodys_turn(revision: Revision) -> None:
    async with (
        SessionAgent(Habits(revision=revision)) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("hang")
        await bob.hear("chunk")
        await bob.say(type="abort")
        await ann.status(runnerBusy=False)

    [hit] = agent.tally.foreign
    assert hit.user_id == "ann"
    assert agent.tally.aborts[0].by == "bob"


async def test_on_r_an_abort_deletes_what_everybody_waits_for() -> None:
    async with (
        SessionAgent(Habits(revision="R")) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("hang")
        await ann.hear("chunk")
        await bob.prompt("mine")
        await bob.status(promptQueued=True)
        await ann.say(type="abort")
        await bob.status(aborted=True)
        await bob.settle()

    assert "status promptDequeued" not in outline(bob.received)
    [gone] = agent.tally.deleted
    assert (gone.user_id, gone.by, gone.content) == ("bob", "ann", "mine")


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_later_an_abort_leaves_the_queue_alone(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.prompt("say 1 deltas")
        await ours.status(promptQueued=True)
        await ours.say(type="abort")
        await ours.status(promptDequeued=True)
        await ours.finish(await ours.bind())

    assert agent.tally.deleted == []


async def test_on_v_an_abort_of_a_thread_leaves_the_others_alone() -> None:
    async with (
        SessionAgent() as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("hold", threadId="T")
        kept = await ann.bind()
        await bob.prompt("hang", threadId="U")
        gone = await bob.hear("message", data={"channelId": "U", "role": "assistant"})
        await bob.say(type="abort", channelType="thread", channelId="U")
        await ann.hear("audit_log", entry={"eventType": "agent.turn_complete"})
        await ann.settle()
        # Another turn still runs, so nobody hears that nobody does.
        assert "status runnerBusy" not in outline(ann.received)
        agent.session("s1").release()
        await ann.finish(kept)

    [aborted] = agent.tally.aborts
    assert aborted.thread == "U"
    assert [hit.turn_id for hit in aborted.stopped] == [gone["data"]["id"]]
    assert agent.tally.foreign == []


async def test_on_v_any_other_abort_stops_every_turn_and_ends_only_one() -> None:
    async with (
        SessionAgent() as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        session = agent.session("s1")
        await ann.prompt("hang", threadId="T")
        await ann.hear("chunk")
        await bob.prompt("hang", threadId="U")
        await bob.hear("chunk", channelId="U")
        await ann.say(type="abort", **DEFAULT)
        await agent.until(lambda: not session.turns)
        await ann.settle()
        completed = outline(ann.received).count("audit_log agent.turn_complete")
        # The other thread counts as busy until a watchdog comes.
        await bob.prompt("say 1 deltas", threadId="U")
        await bob.status(promptQueued=True, queueReason="busy")
        session.recover()
        recovered = await bob.status(watchdogRecovery=True)
        await bob.finish(await bob.bind())

    assert completed == 1
    assert recovered["data"]["runnerBusy"] is False
    assert {hit.user_id for hit in agent.tally.stopped} == {"ann", "bob"}
    assert [hit.user_id for hit in agent.tally.foreign] == ["bob"]


@pytest.mark.parametrize(("revision", "idles"), [("R", 1), ("A", 1), ("V", 3)])
async def test_only_v_answers_when_there_is_nothing_to_stop(revision: Revision, idles: int) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.settle()
        await ours.say(type="abort", **DEFAULT)
        for _ in range(idles):
            await ours.hear("agentStatus", status="idle")
        await ours.settle()

    words = outline(ours.received)
    assert words.count("agentStatus idle") == idles
    assert "status runnerBusy" not in words
    assert agent.tally.stopped == []


@pytest.mark.parametrize("revision", REVISIONS)
async def test_stopped_before_its_first_turn(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("hang silently")
        await ours.hear("agentStatus", status="thinking")
        await ours.say(type="abort")
        await ours.status(runnerBusy=False)
        await ours.settle()

    assert "message assistant" not in outline(ours.received)
    assert [hit.turn_id for hit in agent.tally.stopped] == [None]


async def test_two_aborts_of_one_turn_stop_it_once() -> None:
    async with SessionAgent(Habits(revision="R", pace_s=0.01)) as agent, client(agent.url) as ours:
        await ours.prompt("hang")
        await ours.hear("chunk")
        await ours.say(type="abort")
        await ours.say(type="abort")
        await ours.status(aborted=True)
        await ours.settle()

    assert [len(abort.stopped) for abort in agent.tally.aborts] == [1, 0]
    assert outline(ours.received).count("status runnerBusy") == 2


@pytest.mark.parametrize("revision", REVISIONS)
async def test_an_abort_forgets_the_question_of_its_turn(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("ask me")
        await agent.until(lambda: len(agent.session("s1").pending) == 1)
        await ours.say(type="abort")
        await agent.until(lambda: not agent.session("s1").processing)

        assert agent.session("s1").pending == []
