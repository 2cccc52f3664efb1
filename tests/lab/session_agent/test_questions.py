"""Questions and approvals in each revision: told, answered, expired (§4.4)."""

import pytest

from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.line import client, outline, text
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

WHERE = {"channelType": "web", "channelId": "default"}


async def test_on_r_a_question_counts_in_seconds() -> None:
    async with (
        SessionAgent(Habits(revision="R")) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("ask me")
        turn_id = await ann.bind()
        question = await ann.hear("question")
        async with client(agent.url) as later:
            again = await later.hear("question")
        await bob.say(type="answer", questionId=question["questionId"], answer="yes")
        answered = await ann.status(questionAnswered=question["questionId"])
        await ann.finish(turn_id)

    assert question == {
        "type": "question",
        "questionId": question["questionId"],
        "text": "Proceed?",
        "options": ["yes", "no"],
        "expiresAt": question["expiresAt"],
        **WHERE,
    }
    assert 1e9 < question["expiresAt"] < 1e10
    assert again == {k: v for k, v in question.items() if k != "expiresAt"}
    assert answered["data"]["answer"] == "yes"
    assert text(ann.received, turn_id) == "You said: yes.\n"
    idle = [f for f in ann.received if f["type"] == "agentStatus" and f["status"] == "idle"]
    assert ann.received.index(idle[0]) < ann.received.index(question)


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_later_it_is_a_prompt_and_counts_in_milliseconds(revision: Revision) -> None:
    async with (
        SessionAgent(Habits(revision=revision)) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.settle()
        await bob.prompt("ask me", threadId="T")
        turn_id = await ann.bind()
        asked = await ann.hear("interactive_prompt")
        async with client(agent.url) as later:
            await later.settle()
        prompt_id = asked["prompt"]["id"]
        await bob.say(type="answer", questionId=prompt_id, answer=True)
        resolved = await ann.hear("interactive_prompt_resolved")
        await ann.finish(turn_id)
        await bob.say(type="answer", questionId=prompt_id, answer="too late")
        await bob.settle()

    where = {"channelType": "thread", "channelId": "T", "threadId": "T"}
    assert asked == {
        "type": "interactive_prompt",
        "prompt": {
            "id": prompt_id,
            "sessionId": "s1",
            "type": "question",
            "title": "Proceed?",
            "actions": [{"id": "option_0", "label": "yes"}, {"id": "option_1", "label": "no"}],
            "expiresAt": asked["prompt"]["expiresAt"],
            "context": {"options": ["yes", "no"], **where},
        },
        **where,
    }
    assert 1e12 < asked["prompt"]["expiresAt"] < 1e13
    assert later.received[1] == asked
    assert resolved == {
        "type": "interactive_prompt_resolved",
        "promptId": prompt_id,
        "promptType": "question",
        "resolution": {"value": True, "resolvedBy": "ann"},
    }
    assert outline(bob.received).count("interactive_prompt_resolved") == 1


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_question_that_nobody_answers_expires(revision: Revision) -> None:
    habits = Habits(revision=revision, question_s=0.01)
    async with SessionAgent(habits) as agent, client(agent.url) as ours:
        await ours.prompt("ask me")
        turn_id = await ours.bind()
        await ours.finish(turn_id)

    assert text(ours.received, turn_id) == "Nobody answered in time.\n"
    if revision == "R":
        assert "status questionExpired" in outline(ours.received)
    else:
        expired = next(f for f in ours.received if f["type"] == "interactive_prompt_expired")
        assert expired["promptType"] == "question"


@pytest.mark.parametrize(("revision", "kind"), [("R", "question"), ("V", "interactive_prompt")])
async def test_a_request_of_two_questions_waits_for_both(revision: Revision, kind: str) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("ask me two things")
        turn_id = await ours.bind()
        await ours.hear(kind)
        await ours.hear(kind)
        first, second = (pending.id for pending in agent.session("s1").pending)
        await ours.say(type="answer", questionId=second, answer="3")
        await ours.settle()
        assert "message.updated finish" not in outline(ours.received)
        await ours.say(type="answer", questionId=first, answer="red")
        await ours.finish(turn_id)

    assert first.removesuffix(":0") == second.removesuffix(":1")
    assert text(ours.received, turn_id) == "You said: red, 3.\n"


@pytest.mark.parametrize("revision", ["A", "V"])
async def test_later_a_question_without_a_channel_is_dropped(revision: Revision) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt("ask me", channelType=None, channelId=None)
        await ours.bind()
        await ours.hear("message.updated")
        await ours.hear("message.updated")
        await ours.settle()

    assert "interactive_prompt" not in outline(ours.received)
    assert agent.session("s1").pending == []


async def test_on_v_the_owners_next_prompt_is_the_answer() -> None:
    async with (
        SessionAgent(Habits(owner="ann")) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("ask me")
        turn_id = await ann.bind()
        await ann.hear("interactive_prompt")
        await bob.prompt("not mine to answer")
        await bob.status(promptQueued=True)
        await ann.prompt("on another channel", channelId="side")
        await ann.hear("message", data={"role": "user", "content": "on another channel"})
        await ann.prompt("why not")
        resolved = await ann.hear("interactive_prompt_resolved")
        await ann.finish(turn_id)
        await ann.settle()

    assert resolved["resolution"] == {"value": "why not", "resolvedBy": "ann"}
    echoes = [f["data"]["content"] for f in ann.received if f["type"] == "message"]
    assert "why not" not in echoes


@pytest.mark.parametrize("revision", ["A", "V"])
@pytest.mark.parametrize(
    ("prompt", "frame", "action", "outcome"),
    [
        ("approve", {"type": "approve-action"}, "allow_once", "Sent."),
        (
            "approve",
            {"type": "approve-action", "actionId": "allow_always"},
            "allow_always",
            "Sent.",
        ),
        ("approve", {"type": "deny-action", "reason": "no"}, "cancel", "Not sent."),
        ("approve and fail", {"type": "approve-action"}, "__failed__", "Not sent."),
    ],
)
async def test_an_approval_is_decided(
    revision: Revision, prompt: str, frame: dict[str, str], action: str, outcome: str
) -> None:
    async with SessionAgent(Habits(revision=revision)) as agent, client(agent.url) as ours:
        await ours.prompt(prompt)
        turn_id = await ours.bind()
        asked = await ours.hear("interactive_prompt")
        await ours.say(invocationId=asked["prompt"]["id"], **frame)
        resolved = await ours.hear("interactive_prompt_resolved")
        await ours.finish(turn_id)

    assert "channelType" not in asked
    assert asked["prompt"]["type"] == resolved["promptType"] == "approval"
    assert asked["prompt"]["context"]["channelId"] == "default"
    assert [a["id"] for a in asked["prompt"]["actions"]] == [
        *("allow_once", "allow_session", "allow_always", "cancel")
    ]
    assert resolved["resolution"] == {"actionId": action, "resolvedBy": "ann"}
    assert outcome in text(ours.received, turn_id)


async def test_only_the_owner_decides_and_others_are_told_so() -> None:
    async with (
        SessionAgent(Habits(owner="ann")) as agent,
        client(agent.url) as ann,
        client(agent.url, "bob") as bob,
    ):
        await ann.prompt("approve")
        asked = await bob.hear("interactive_prompt")
        prompt_id = asked["prompt"]["id"]
        await bob.say(type="approve-action", invocationId=prompt_id)
        denied = await bob.hear("error")
        await bob.say(type="deny-action", invocationId="inv_of_nobody")
        unknown = await bob.hear("error")
        await ann.settle()

    words = "Only the session owner can resolve this prompt"
    assert denied == {"type": "error", "error": words, "promptId": prompt_id}
    assert unknown["promptId"] == "inv_of_nobody"
    assert "error" not in outline(ann.received)


async def test_an_approval_that_nobody_gives_expires() -> None:
    async with SessionAgent(Habits(approval_s=0.01)) as agent, client(agent.url) as ours:
        await ours.prompt("approve")
        expired = await ours.hear("interactive_prompt_expired")
        await ours.status(runnerBusy=False)

    assert (expired["promptType"], expired["context"]) == ("approval", {})


@pytest.mark.parametrize(("answer", "outcome"), [("Allow", "Sent."), ("Deny", "Not sent.")])
async def test_on_r_an_approval_is_a_question(answer: str, outcome: str) -> None:
    async with SessionAgent(Habits(revision="R")) as agent, client(agent.url) as ours:
        await ours.prompt("approve")
        turn_id = await ours.bind()
        question = await ours.hear("question")
        await ours.say(type="answer", questionId=question["questionId"], answer=answer)
        await ours.finish(turn_id)

    assert text(ours.received, turn_id).startswith(outcome)
