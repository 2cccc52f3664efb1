"""Whatever happened to its calls while a client was away: none has an output and no input."""

import json
import random
from typing import Any, Final

import pytest
from msgspec import Raw

from support import session_agent_frames as sa
from support import v2_frames as v2
from support.continued import Json, chunks, continued, init, question
from support.seeds import each_seed
from support.session_agent_resumed import INIT_S
from support.session_agent_turn import ASK, PROMPT, Step, TurnEntry
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.continuation import read_in_steps
from turnwire.core.requests import PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.steps import run_steps
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent import SessionAgent

CALLS: Final = [f"c{number}" for number in range(5)]
PHASES: Final = ["pending", "running", "completed"]


class Message:
    """The calls of a client's message, as released clients hold them."""

    def __init__(self) -> None:
        self.calls: dict[str, Json] = {}

    def take(self, act: Output) -> None:
        for chunk in chunks(act):
            kind: str = chunk["type"]
            if not kind.startswith("tool-"):
                continue
            call = self.calls.setdefault(chunk["toolCallId"], {"toolCallId": chunk["toolCallId"]})
            match kind:
                case "tool-input-start":
                    call["state"] = "input-streaming"
                case "tool-input-available":
                    call |= {"state": "input-available", "input": chunk["input"]}
                case _:
                    assert "input" in call, f"{call} gets an output and has no input"
                    call["state"] = kind.removeprefix("tool-")

    @property
    def known(self) -> ClientCopy:
        parts = [
            {"type": "tool-bash", "providerExecuted": True, **call} for call in self.calls.values()
        ]
        answered = {"id": "q1", "data": {"state": "answered", "answer": "yes"}}
        sent = [*parts, {"type": "data-question", **answered}]
        encoded = [Raw(json.dumps(part).encode()) for part in sent]
        return run_steps(read_in_steps("m1", encoded)).client_copy


def phases(dice: random.Random) -> list[tuple[str, str]]:
    """Updates of calls, each call's in their order, and those of different calls mixed."""
    left = {call: PHASES[dice.choice([0, 0, 1]) :] for call in CALLS}
    mixed: list[tuple[str, str]] = []
    while left:
        call = dice.choice(list(left))
        mixed.append((call, left[call].pop(0)))
        left = {call: more for call, more in left.items() if more}
    return mixed


def cut(dice: random.Random, updates: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What a client heard, what happened while it was away, what happens then."""
    one, two = sorted(dice.choices(range(len(updates) + 1), k=2))
    return updates[:one], updates[one:two], updates[two:]


def given(call: str) -> Json:
    return {"command": f"echo {call}"}


def about(call: str, status: str) -> Json:
    return {} if status == "pending" else {"args": given(call)}


@each_seed(60)
def test_a_continued_v2_turn_leaves_no_output_without_its_input(seed: int) -> None:
    dice = random.Random(f"inputs {seed}")  # noqa: S311 (the same turn every time)
    heard, missed, then = cut(dice, phases(dice))
    message = Message()
    first = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=v2.PROMPT)),
        Limits(),
        UIMessageStream(),
    )
    first.handle(Opened(), 0)
    asked = json.dumps({**question(), "turnId": v2.OURS}).encode()
    told = [v2.tool(status, call, **about(call, status)) for call, status in heard]
    message.take(first.frames([v2.begin(), *told, asked], 1))

    second = continued(native=False, known=message.known)
    last = dict([*heard, *missed])
    parts = [
        {"type": "tool-call", "callId": c, "toolName": "bash", "status": s, **about(c, s)}
        for c, s in last.items()
    ]
    before = [part for part in parts if part["callId"] in message.calls]
    after = [part for part in parts if part not in before]
    message.take(second.frames([init(*before, question(), *after)], 2))
    for call, status in then:
        message.take(second.frames([v2.tool(status, call, **about(call, status))], 3))
    message.take(second.frames([v2.finalize()], 4))

    assert {name: call["input"] for name, call in message.calls.items()} == {
        call: given(call) for call in CALLS
    }
    assert {call["state"] for call in message.calls.values()} == {"output-available"}


@pytest.mark.parametrize("revision", sa.REVISIONS)
@each_seed(60)
def test_a_continued_session_agent_turn_leaves_no_output_without_its_input(
    seed: int, revision: str
) -> None:
    dice = random.Random(f"inputs {seed}")  # noqa: S311 (the same turn every time)
    heard, missed, then = cut(dice, phases(dice))
    message = Message()
    entry = TurnEntry(revision)
    first = Turn(
        SessionAgent().prompt(PromptRequest(text="two", prompt_id="p1", user_id=sa.ME)),
        Limits(),
        UIMessageStream(),
    )
    first.handle(Opened(), 0)
    frames = [*sa.running(revision), *(entry.take(step) for step in heard)]
    asks: list[Step] = [("c9", "pending"), ("c9", "running"), ASK]
    frames += [entry.take(step) for step in asks]
    message.take(first.frames(frames, 1))

    known = message.known
    for step in missed:
        entry.take(step)
    hello = json.loads(sa.init(revision, runnerBusy=True))
    if revision == "R":
        hello["session"]["messages"] = [PROMPT, entry.written()]
    look = ResumeRequest(user_id=sa.ME, init_s=INIT_S, replies=[QuestionReply("q1", Raw(b'"yes"'))])
    second = Turn(
        SessionAgent().resume(look),
        Limits(hold_s=9),
        UIMessageStream(StreamOptions(client_copy=known)),
    )
    second.handle(Opened(), 0)
    frames = [json.dumps(hello).encode(), sa.asked(revision), sa.answered(revision)]
    frames += [entry.take(step) for step in [("c9", "completed"), *then]]
    entry.finish("")
    for frame in [*frames, entry.updated()]:
        message.take(second.frames([frame], 2))

    assert all("input" in call for call in message.calls.values())
    states = {call["state"] for call in message.calls.values()}
    assert states == {"output-available"}


def test_an_input_that_the_client_has_is_not_made_up_anew() -> None:
    """The agent told it once, and says no more of it."""
    turn = continued(native=False, known=ClientCopy(pending=frozenset({"c1"})))
    call = {"type": "tool-call", "callId": "c1", "toolName": "bash", "status": "running"}
    turn.frames([init(call, question())], 1)

    told = chunks(turn.frames([v2.tool("completed", "c1", result=7)], 2))

    assert [chunk["type"] for chunk in told] == ["tool-output-available"]
