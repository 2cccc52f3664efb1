"""P1 to P6 through a whole `Turn`, whatever events come in whatever order, cut wherever."""

import json
import random
import re
from typing import Any

import pytest

from support import ag_ui_frames as f
from support.ag_ui_turn import Played
from support.seeds import each_seed
from turnwire.core.requests import DialectOptions, StateMode
from turnwire.core.turn.outcome import Outcome

WORDS = ["a", "b ", "\n\n", "é", "\u2028", "\0", "\U0001f600", 'data: {"x"', ""]
CALLS = ["c1", "c2", "confirm"]
SUBAGENTS: list[dict[str, Any]] = [{}, {}, {"subagentRunId": "s1"}, {"subagentRunId": "s2"}]
VALUES = ["21", "[1]", '{"__proto__":1}', [], [{"type": "text", "text": "x"}], None]


def pool(dice: random.Random) -> bytes:
    """Any event of our run."""
    word, call = dice.choice(WORDS), dice.choice(CALLS)
    message = dice.choice(["m1", "m2", call])
    owner = dice.choice(SUBAGENTS)
    choices = (
        *(f.text(word, message, **owner), f.text(word, message), f.text_end(message)),
        *(f.text_start(message), f.thought(word, message), f.thought_end(message)),
        f.event("THINKING_TEXT_MESSAGE_CONTENT", delta=word),
        *(f.text_chunk(messageId=message, delta=word, **owner), f.text_chunk(delta=word, **owner)),
        *(f.call_chunk(toolCallId=call, toolCallName="x", delta=word, **owner), f.mark()),
        f.event("REASONING_MESSAGE_CHUNK", messageId=message, delta=word, **owner),
        *(
            f.call(call),
            f.call(call, "confirm_changes"),
            f.args('{"a":1}', call),
            f.args(word, call),
        ),
        *(f.call_end(call), f.result(dice.choice(VALUES), call), f.mark(message="t1")),
        f.snapshot(f.user(), f.assistant("other", c1='{"s":1}'), f.tool("snap", call)),
        f.event(
            "STATE_SNAPSHOT", snapshot={"messages": [{"tool_calls": [{"id": call, "args": 1}]}]}
        ),
        f.event("STATE_DELTA", delta=[{"op": "add", "path": "/a", "value": 1}]),
        f.event("ACTIVITY_SNAPSHOT", messageId=message, activityType="x", content={}),
        f.event("STEP_STARTED", stepName=word),
        f.event("SUBAGENT_ERROR", subagentRunId="s1", message="it broke"),
        dice.choice(f.NOISE),
    )
    return dice.choice(choices)


INTERRUPT = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
ENDINGS = [
    f.finished(),
    f.finished(outcome={"type": "cancelled"}),
    f.failed("boom"),
    f.interrupted({"no": "id"}),
    None,
]


@pytest.mark.parametrize("state", StateMode)
@each_seed(60)
def test_any_events_in_any_order_make_a_stream_that_ends(seed: int, state: StateMode) -> None:
    dice = random.Random(f"any {seed}")  # noqa: S311 (the same events every time)
    played = Played(f.started(), options=DialectOptions(state=state))

    for _ in range(80):
        played.tell(pool(dice))
        if dice.random() < 0.1:
            played.wait(dice.choice([0.05, 1.0]))
    ending = dice.choice(ENDINGS)
    if ending is None:
        played.leave()
    else:
        played.tell(f.started(), ending, f.text("late"), f.finished())

    assert played.turn.outcome is not None
    assert "late" not in played.client.text
    played.client.close()


@each_seed(60)
def test_the_text_is_what_was_told_in_order_and_once(seed: int) -> None:
    """However it is told: whole or in shorthand, by one subagent or several, among other events."""
    dice = random.Random(f"text {seed}")  # noqa: S311 (the same events every time)
    told: list[str] = []
    played = Played(f.started())
    others = (
        *(f.call(), f.args("{}"), f.call_end(), f.result("x"), f.thought("hm"), f.raw()),
        *(f.event("STEP_STARTED", stepName="x"), f.snapshot(f.user(), f.assistant("other"))),
    )

    for number in range(80):
        message = dice.choice(["m1", "m2", "m3"])
        word = f"<{message}>{dice.choice(WORDS)}"
        match dice.randrange(4):
            case 0:
                played.tell(dice.choice(others))
                continue
            case 1:
                played.tell(f.text_chunk(messageId=message, delta=f"{number}{word}"))
            case 2:
                played.tell(f.text(f"{number}{word}", message, subagentRunId="s1"))
            case _:
                played.tell(f.text(f"{number}{word}", message))
        told.append(f"{number}{word}")
    played.tell(f.finished())

    assert played.client.streamed_text == "".join(told)
    blocks = played.client.texts.values()
    assert all(len(set(re.findall("<m.>", block))) == 1 for block in blocks)
    played.client.close()


@each_seed(40)
def test_reads_make_no_difference(seed: int) -> None:
    """All events at once, or each in a read of its own."""
    dice = random.Random(f"reads {seed}")  # noqa: S311 (the same events every time)
    frames = [f.started(), *(pool(dice) for _ in range(60)), f.finished()]

    assert Played(*frames).written == Played(*frames, at_once=True).written


@each_seed(60)
def test_after_any_events_a_question_is_asked_answered_and_the_turn_ends(seed: int) -> None:
    dice = random.Random(f"asked {seed}")  # noqa: S311 (the same events every time)
    frames = [pool(dice) for _ in range(30)]
    played = Played(f.started(), *frames, f.text("x"), f.interrupted(INTERRUPT)).leave()
    assert played.client.questions == {"i1": "open"}

    run = played.reply("i1", answer=True).requests[1]["runId"]
    played.open_again().tell(f.started(run), *(pool(dice) for _ in range(30)), f.finished(run))

    assert played.client.questions == {"i1": "resolved"}
    played.client.close()


@each_seed(60)
def test_neither_other_runs_nor_what_follows_the_end_change_the_text(seed: int) -> None:
    """Whole runs of others between ours, noise, questions in mid-run, two ends: our text, once."""
    dice = random.Random(f"runs {seed}")  # noqa: S311 (the same events every time)
    told: list[str] = []
    played = Played(f.started())
    elsewhere = (f.text("secret", "m1"), f.text_chunk(messageId="m1", delta="secret"))
    noise = (
        *f.NOISE[:-1],
        f.custom("on_interrupt", '{"question": "secret?"}'),
        f.event("STATE_DELTA", delta=[{"op": "remove", "path": "/no"}]),
        f.snapshot(f.user(), f.assistant("secret", "m1"), f.tool("secret", "c7")),
        f.event("RUN_FINISHED", runId="run-9", threadId=f.THREAD),
    )

    for number in range(40):
        match dice.randrange(3):
            case 0:
                run = [f.started("run-9"), *dice.choices(elsewhere, k=3), f.finished("run-9")]
                played.tell(*run, f.started())
            case 1:
                one = dice.choice(noise)
                played.tell(one, *([f.started()] if b"run-9" in one else []))
            case _:
                told.append(f"{number} ")
                played.tell(f.text(told[-1], dice.choice(["m1", "m2"])))
    played.tell(f.finished(outcome={"type": "success"}), f.text("late"), f.finished(), f.failed())

    assert played.client.streamed_text == "".join(told)
    assert b"secret" not in played.written.replace(b"secret?", b"")
    played.leave()


def any_value(dice: random.Random, depth: int = 0) -> Any:
    """Any JSON, with the words of interrupts that want decisions."""
    words = ("approve", "reject", "delete", "tool_approval", "c1", "\ud83d", "", "x" * 600)
    match dice.randrange(8 if depth < 3 else 3):
        case 0:
            return dice.choice([None, True, 1.5, 10**400])
        case 1 | 2:
            return dice.choice(words)
        case 3:
            return [any_value(dice, depth + 1) for _ in range(dice.randrange(4))]
        case _:
            names = dice.choices(DECISION_FIELDS, k=dice.randrange(6))
            return {name: any_value(dice, depth + 1) for name in names}


DECISION_FIELDS = [
    *("name", "args", "description", "action_name", "allowed_decisions", "action_requests"),
    *("review_configs", "type", "tool_call_id", "__proto__"),
]


def any_decisions(dice: random.Random) -> Any:
    """The value of an interrupt that is, or almost is, one of LangChain's middleware."""

    def or_any(value: Any) -> Any:
        return value if dice.random() < 0.9 else any_value(dice)

    requests = [
        {"name": or_any("delete"), "args": or_any({"path": "a"}), "description": or_any("?")}
        for _ in range(dice.randrange(1, 4))
    ]
    allowed = or_any(["approve", "reject"])
    configs = [{"action_name": or_any("delete"), "allowed_decisions": allowed}]
    batch = {"action_requests": or_any(requests), "review_configs": or_any(configs)}
    single = {"type": "tool_approval", "tool_call_id": or_any("c1"), **requests[0]}
    return dice.choice([batch, batch, single])


@each_seed(200)
def test_whatever_an_interrupt_wants_decided_is_asked_answered_and_the_turn_ends(seed: int) -> None:
    dice = random.Random(f"decisions {seed}")  # noqa: S311 (the same events every time)
    ids = ("i1", "decision:0/2:i2")
    asked = [
        {"id": each, "metadata": {"langgraph": {"raw": any_decisions(dice)}}}
        for each in ids[: dice.randrange(1, 3)]
    ]
    told = (
        [f.custom("on_interrupt", json.dumps(any_decisions(dice))), f.finished()]
        if dice.random() < 0.3
        else [f.interrupted(*asked)]
    )
    calls = [*f.whole_call("c1", "delete", '{"path":"a"}'), *f.whole_call("c2", "delete", "{}")]
    played = Played(f.started(), *calls, *told).leave()
    assert set(played.client.questions.values()) == {"open"}

    for question_id in list(played.client.questions):
        played.reply(question_id, dice.choice([True, "approve", {"decisions": []}, None]))
    run = played.requests[1]["runId"]
    played.open_again().tell(f.started(run), f.text("Done."), f.finished(run))

    assert set(played.client.questions.values()) == {"resolved"}
    assert played.turn.outcome is Outcome.COMPLETED
    played.client.close()
