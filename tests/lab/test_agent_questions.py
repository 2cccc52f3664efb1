"""The reference agent asks: what it tells, whose answer counts, and what happens without one."""

from datetime import UTC, datetime
from typing import Any

import pytest

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.asking import Asking
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.line import GatewayLine, line, text
from turnwire_lab.agents.v2.parts import Question
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)


def noon() -> datetime:
    return NOON


async def answer(ours: GatewayLine, question: Json, said: object) -> None:
    await ours.say(type="answer", questionId=question["questionId"], answer=said)


async def last_entry(agent: ReferenceAgent) -> Json:
    async with line(agent.url) as later:
        init = await later.hear("init")
    entry: Json = init["session"]["messages"][-1]
    return entry


async def test_a_question_is_told_answered_and_heard() -> None:
    async with ReferenceAgent(now=noon) as agent, line(agent.url) as ours:
        await ours.ask("ask me: tea, coffee or water?")
        created = await ours.hear("message.create")
        question = await ours.hear("question")
        await answer(ours, question, "tea")
        resolved = await ours.hear("question.resolved")
        final = await ours.hear("message.finalize")

        ids = {"questionId": question["questionId"], "turnId": created["turnId"]}
        assert question == {
            "type": "question",
            **ids,
            "text": "Which one shall it be?",
            "options": ["tea", "coffee", "water"],
            "expiresAt": NOON_MS + 300_000,
        }
        assert resolved == {"type": "question.resolved", **ids, "answer": "tea"}
        assert final["finalText"].endswith("you said **tea**.\n")


@pytest.mark.parametrize(
    ("prompt", "asked", "options"),
    [
        ("ask me", "Which colour do you like?", ["red", "green", "blue"]),
        ("ask me something", "Which colour do you like?", ["red", "green", "blue"]),
        ("ask free text", "What do you think about this?", None),
        ("ask me freely about rivers.", "What do you think about rivers?", None),
        ("ask quickly", "Quick: which one?", ["yes", "no"]),
        ("ask me quickly: up or down", "Quick: which one?", ["up", "down"]),
    ],
)
async def test_what_is_asked_depends_on_the_prompt(
    prompt: str, asked: str, options: list[str] | None
) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask(prompt)
        question = await ours.hear("question")

        assert (question["text"], question.get("options")) == (asked, options)


async def test_two_questions_are_open_at_once_and_the_turn_waits_for_both() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours, line(agent.url) as other:
        await ours.ask("ask two things")
        colour = await ours.hear("question")
        name = await ours.hear("question")
        await answer(other, name, "Ann")
        await ours.hear("question.resolved", questionId=name["questionId"])
        told = await last_entry(agent)
        await answer(ours, colour, None)
        final = await ours.hear("message.finalize")

        said, first, second = told["parts"]
        assert said["streaming"] is False
        assert first == colour
        assert second == name | {"answer": "Ann"}
        assert final["finalText"].endswith(
            "To 'Which colour do you like?' you said **None**.\n"
            "To 'And what is your name?' you said **Ann**.\n"
        )


async def test_only_the_first_answer_counts_and_the_others_are_noted() -> None:
    async with (
        ReferenceAgent() as agent,
        line(agent.url, x_turnwire_user="ann") as ours,
        line(agent.url, x_turnwire_user="bob") as other,
    ):
        await ours.ask("ask two things")
        colour, name = await ours.hear("question"), await ours.hear("question")
        await answer(ours, colour, "red")
        await ours.hear("question.resolved")
        await answer(other, colour, "green")
        await answer(other, {"questionId": "question-of-nobody"}, {"any": "thing"})
        await agent.until(lambda: len(agent.journal.ignored_answers) == 2)
        await answer(ours, name, "Ann")
        await ours.hear("complete")
        await answer(ours, name, "Eve")
        await agent.until(lambda: len(agent.journal.ignored_answers) == 3)

        second, unknown, late = agent.journal.ignored_answers
        assert (second.question_id, second.answer) == (colour["questionId"], "green")
        assert (second.session_id, second.user_id, second.why) == ("s1", "bob", "closed")
        assert (unknown.answer, unknown.why) == ({"any": "thing"}, "unknown")
        assert (late.answer, late.user_id, late.why) == ("Eve", "ann", "closed")
        assert "said **red**" in text(ours.received)
        resolved = [f["answer"] for f in ours.received if f["type"] == "question.resolved"]
        assert resolved == ["red", "Ann"]


async def test_of_two_answers_in_one_breath_the_first_counts() -> None:
    told: list[Json] = []
    asking = Asking(told.append)
    one, other = (Question(f"q{n}", "t", "Which?", (), 0, wait_s=60) for n in range(2))
    asking.begin(one)
    asking.begin(other)

    # The turn has had no time to notice the first answer when the second comes.
    assert asking.answer("q0", "red")
    assert not asking.answer("q0", "green")
    asking.give_up()
    assert not asking.answer("q1", "blue")
    assert (one.answer, other.expired) == ("red", True)
    closed = [(f["type"], f["questionId"]) for f in told if f["type"] != "question"]
    assert closed == [("question.resolved", "q0"), ("question.expired", "q1")]


async def test_a_question_expires_and_the_turn_goes_on() -> None:
    async with ReferenceAgent(Habits(quick_s=0.01), now=noon) as agent, line(agent.url) as ours:
        await ours.ask("ask quickly")
        question = await ours.hear("question")
        expired = await ours.hear("question.expired")
        final = await ours.hear("message.finalize")
        told = await last_entry(agent)

        ids = {"questionId": question["questionId"], "turnId": final["turnId"]}
        assert question["expiresAt"] == NOON_MS + 10
        assert expired == {"type": "question.expired", **ids}
        assert (final["reason"], final["finalText"][-44:]) == (
            "end_turn",
            "Nobody answered 'Quick: which one?' in time.\n"[-44:],
        )
        assert question | {"expired": True} in told["parts"]


async def test_an_abort_closes_what_is_open() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("ask two things")
        colour, name = await ours.hear("question"), await ours.hear("question")
        await answer(ours, name, "Ann")
        await ours.hear("question.resolved")
        await ours.say(type="abort", promptId="p1")
        final = await ours.hear("message.finalize")
        told = await last_entry(agent)
        await answer(ours, colour, "red")
        await agent.until(lambda: bool(agent.journal.ignored_answers))

        assert final["reason"] == "canceled"
        closed = [f["questionId"] for f in ours.received if f["type"] == "question.expired"]
        assert closed == [colour["questionId"]]
        assert [p["type"] for p in told["parts"]] == ["text", "question", "question", "finish"]
        assert told["parts"][1] == colour | {"expired": True}
        assert told["parts"][2] == name | {"answer": "Ann"}


@pytest.mark.parametrize("said", ["approve", " Yes ", True, {"approved": True}])
async def test_an_approved_tool_runs(said: Any) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("approve (12*7) please")
        running = await ours.hear("message.part.tool-update", status="running")
        question = await ours.hear("question")
        waiting = await last_entry(agent)
        await answer(ours, question, said)
        await ours.hear("question.resolved")
        completed = await ours.hear("message.part.tool-update")
        final = await ours.hear("message.finalize")

        assert question["kind"] == "approval"
        assert question["options"] == ["approve", "deny"]
        for field in ("callId", "toolName", "args"):
            assert question[field] == running[field]
        assert question["args"] == {"expression": "(12*7)"}
        assert [p["type"] for p in waiting["parts"]] == ["text", "tool-call", "question"]
        assert waiting["parts"][0]["streaming"] is False
        assert (waiting["parts"][1]["status"], waiting["parts"][2]) == ("running", question)
        assert (completed["callId"], completed["status"]) == (question["callId"], "completed")
        assert completed["result"]["value"] == 84
        assert final["finalText"].endswith("(12*7) is **84**.\n")


@pytest.mark.parametrize("said", ["deny", "perhaps", False, None, 1, {"approved": "yes"}])
async def test_a_denied_tool_does_not_run_and_the_turn_goes_on(said: Any) -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("approve")
        question = await ours.hear("question")
        await answer(ours, question, said)
        failed = await ours.hear("message.part.tool-update", status="error")
        final = await ours.hear("message.finalize")

        assert (failed["callId"], failed["error"]) == (question["callId"], "Denied")
        assert "result" not in failed
        assert final["reason"] == "end_turn"
        assert final["finalText"].endswith("I did not work out 6*7: denied.\n")


async def test_an_approval_that_nobody_gives_is_none() -> None:
    async with ReferenceAgent(Habits(question_s=0.01)) as agent, line(agent.url) as ours:
        frames = await ours.turn("approve 1/0")

        failed = next(f for f in frames if f.get("status") == "error")
        assert failed["error"] == "No answer in time"
        assert text(frames).endswith("I did not work out 1/0: no answer in time.\n")


async def test_an_approved_tool_may_still_fail() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("approve 1/0")
        await answer(ours, await ours.hear("question"), "approve")
        final = await ours.hear("message.finalize")

        assert final["finalText"].endswith("The calculator gave up: Division by zero.\n")


async def test_two_calls_wait_for_their_own_approvals() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("approve two things")
        first, second = await ours.hear("question"), await ours.hear("question")
        await answer(ours, second, "approve")
        completed = await ours.hear("message.part.tool-update", status="completed")
        await answer(ours, first, "deny")
        failed = await ours.hear("message.part.tool-update", status="error")
        final = await ours.hear("message.finalize")

        assert first["callId"] != second["callId"]
        assert (completed["callId"], failed["callId"]) == (second["callId"], first["callId"])
        assert final["finalText"].endswith("I did not work out 6*7: denied.\n7*8 is **56**.\n")


async def test_an_abort_ends_a_call_that_waits_for_approval() -> None:
    async with ReferenceAgent() as agent, line(agent.url) as ours:
        await ours.ask("approve two things")
        await ours.hear("question")
        await ours.hear("question")
        await ours.say(type="abort", promptId="p1")
        final = await ours.hear("message.finalize")
        told = await last_entry(agent)

        assert final["reason"] == "canceled"
        assert [f["type"] for f in ours.received].count("question.expired") == 2
        calls = [p for p in told["parts"] if p["type"] == "tool-call"]
        assert [(c["status"], c["error"]) for c in calls] == [("error", "Canceled")] * 2
