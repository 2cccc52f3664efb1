"""Following a `v2` turn from its hydration on: nothing is lost and nothing doubled at the seam."""

import json
from random import Random
from typing import Any

import pytest

from support import v2_frames as f
from support.agent_v2 import Agent, Json
from support.continued import REQUESTS
from turnwire.core.agent import AbortScope, AgentProtocol
from turnwire.core.approvals import ApprovalIssuer
from turnwire.core.operations import History
from turnwire.core.rejection import Rejection
from turnwire.core.requests import HistoryRequest, PromptRequest, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import AgentLeft, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import Client, read

LOOK = ResumeRequest(user_id="u1", init_s=5)
V2 = DIALECTS["v2"]
TURNS = 150


def stream(
    conversation: AgentProtocol, *reads: list[bytes], approvals: ApprovalIssuer | None = None
) -> tuple[Turn, bytes]:
    """What a conversation that hears these frames writes; it ends when the agent leaves."""
    turn = Turn(conversation, Limits(), UIMessageStream(StreamOptions(approvals=approvals)))
    written = turn.handle(Opened(), 0).to_client
    for frames in reads:
        written += turn.frames(frames, 1).to_client
    written += turn.handle(AgentLeft(), 2).to_client
    return turn, written


def live(steps: list[list[bytes]], approvals: ApprovalIssuer | None = None) -> Client:
    conversation = V2.prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    return read(stream(conversation, *steps, approvals=approvals)[1])


def cuts(
    seed: int, *, orderly: bool, approvals: ApprovalIssuer | None = None
) -> list[tuple[Client, Client]]:
    """A turn as who never left saw it, and as some saw it who came back in the middle."""
    inits = [(before := Agent(seed, orderly=orderly)).init()]
    steps = []
    for frames in before.steps():
        steps.append(frames)
        inits.append(before.init())
    if before.over:
        del inits[-1]  # then there is nothing to resume
    undisturbed = live(steps, approvals)
    dice = Random(seed)  # noqa: S311
    found = []
    for at in dice.sample(range(len(inits)), min(3, len(inits))):
        # Some agents tell the end of what the hydration holds once more before it.
        heard = [inits[at], *(frame for step in steps[at:] for frame in step)]
        if dice.random() < 0.3:
            heard[:0] = [frame for step in steps[max(0, at - 2) : at] for frame in step]
        batches = [heard[n : n + 3] for n in range(0, len(heard), 3)]
        resumed = read(stream(V2.resume(LOOK), *batches, approvals=approvals)[1])
        found.append((undisturbed, resumed))
    return found


def content_of(answer: Client) -> list[Json]:
    """What a message tells, wherever it stands: its text as one, then everything else."""
    texts = [
        {"type": kind, "text": "".join(p["text"] for p in answer.parts if p["type"] == kind)}
        for kind in ("text", "reasoning")
    ]
    open_turns = [p for p in answer.parts if p["type"] not in {"text", "reasoning", "step-start"}]
    return [*texts, *open_turns]


@pytest.mark.no_cover  # hundreds of turns; the cases below reach the same lines
@pytest.mark.parametrize("approvals", [None, REQUESTS], ids=["portable", "native"])
def test_whoever_comes_back_to_an_orderly_turn_has_the_same_message(
    approvals: ApprovalIssuer | None,
) -> None:
    for seed in range(TURNS):
        for undisturbed, resumed in cuts(seed, orderly=True, approvals=approvals):
            assert resumed.parts == undisturbed.parts, seed
            assert (resumed.message_id, resumed.error) == (f.OURS, undisturbed.error), seed


@pytest.mark.no_cover  # hundreds of turns; the cases below reach the same lines
def test_whoever_comes_back_to_any_turn_is_told_all_of_it_once() -> None:
    for seed in range(TURNS):
        for undisturbed, resumed in cuts(seed, orderly=False):
            assert content_of(resumed) == content_of(undisturbed), seed


def test_the_history_of_an_orderly_turn_is_the_same_message() -> None:
    for seed in range(TURNS):
        agent = Agent(seed)
        undisturbed = live(list(agent.steps()))
        if not agent.over:
            continue
        recalling = V2.read_history(HistoryRequest(user_id="u1", init_s=5, verdict_s=5, limit=2))
        recalling.connection_opened(0)
        recalling.receive_frame(agent.init(), 1)
        assert isinstance(recalling.result, History)
        asked, answered = json.loads(ui_messages(recalling.result))
        while answered["parts"][-1:] == [{"type": "step-start"}]:
            answered["parts"].pop()
        assert asked["id"] == "m1"
        assert answered == {"id": f.OURS, "role": "assistant", "parts": undisturbed.parts}, seed


# What it follows, and what it answers where there is nothing.

TURN: Json = {"id": f.OURS, "role": "assistant", "promptId": f.PROMPT, "parts": []}
WAITING: Json = {"id": "e1", "role": "user", "promptId": f.PROMPT, "queued": True, "parts": []}
OVER: Json = TURN | {"id": "turn-0", "parts": [{"type": "finish", "reason": "end_turn"}]}


def hello(*messages: Json, **data: Any) -> bytes:
    return f.frame("init", session={"messages": list(messages)}, data=data)


def resumed(*frames: bytes, look: ResumeRequest = LOOK, member: Member | None = None) -> Turn:
    turn = Turn(V2.resume(look, member), Limits(hold_s=100), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames(frames, 1)
    return turn


@pytest.mark.parametrize(
    "init",
    [
        pytest.param(hello(), id="nothing was ever said"),
        pytest.param(hello(OVER), id="the last turn is over"),
        pytest.param(hello(TURN), id="a turn without an end, and the agent is idle"),
        pytest.param(hello(OVER, runningTurnId="turn-0"), id="the turn that runs is over"),
        pytest.param(hello(runnerBusy=True), id="it is busy with nothing that it names"),
        pytest.param(hello(TURN | {"channelId": "C"}, runnerBusy=True), id="another channel"),
        pytest.param(hello(WAITING | {"channelType": "slack"}), id="waits on another channel"),
        pytest.param(hello(TURN | {"id": 7}, runnerBusy=True), id="an entry of another shape"),
        pytest.param(f.frame("init", session={"messages": {}}), id="no list of messages"),
        pytest.param(f.frame("init", session=7), id="a session of another shape"),
        pytest.param(f.frame("init"), id="an init that says nothing"),
    ],
)
def test_there_is_nothing_to_resume(init: bytes) -> None:
    turn = resumed(init)

    assert (turn.outcome, turn.rejection) == (Outcome.NOTHING, Rejection.NO_TURN)


@pytest.mark.parametrize("idle_s", [120, 4])
def test_an_agent_that_says_no_hello_has_nothing_to_resume(idle_s: float) -> None:
    turn = Turn(V2.resume(LOOK), Limits(hold_s=100, idle_s=idle_s), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([f.begin(), f.part("a")], 0)

    assert turn.handle(Tick(), 4.5).to_client == b""
    assert turn.handle(Tick(), 4.9).to_client == b""
    assert turn.outcome is None
    assert turn.handle(Tick(), 5).to_client == b""
    assert turn.outcome is Outcome.NOTHING


def test_what_comes_before_the_hydration_is_part_of_it() -> None:
    before = [f.frame("error", error="no"), f.question(), f.frame("agentStatus", status="error")]
    _, written = stream(V2.resume(LOOK), before, [hello(TURN, runnerBusy=True), f.finalize()])

    answer = read(written)
    assert (answer.message_id, answer.parts, answer.data) == (f.OURS, [], [])
    assert answer.error is None


@pytest.mark.parametrize(
    "init",
    [
        pytest.param(hello(TURN, runnerBusy=True), id="the last one, and the agent is busy"),
        pytest.param(hello(TURN, runningTurnId=f.OURS), id="the one that is named"),
        pytest.param(hello(TURN, TURN | {"id": "t9"}, runningTurnId=f.OURS), id="not the last"),
        pytest.param(hello(TURN, WAITING, runnerBusy=True), id="before the one that waits"),
    ],
)
def test_a_turn_that_runs_is_followed_from_its_start(init: bytes) -> None:
    turn = resumed(init, init, f.part("a"))

    assert turn.turn_id == f.OURS
    assert turn.outcome is None


def test_what_waits_is_followed_once_it_begins() -> None:
    other = TURN | {"id": "turn-9", "promptId": "p9", "channelId": "C"}
    turn = Turn(V2.resume(LOOK), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    told = turn.frames([hello(other, WAITING, runningTurnId="turn-9")], 1).to_client
    assert told.count(b'"status":"queued"') == 1
    assert (turn.turn_id, turn.outcome) == (None, None)
    turn.frames([f.part("no", "turn-9"), f.finalize("turn-9"), f.begin()], 3)
    assert turn.turn_id == f.OURS


ASKED: Json = {"id": "e1", "role": "user", "promptId": f.PROMPT, "parts": []}


@pytest.mark.parametrize(
    ("messages", "count", "waits"),
    [
        pytest.param([ASKED], 1, True, id="no turn names it"),
        pytest.param([ASKED | {"promptId": "p0"}, ASKED], 1, True, id="an older one was lost"),
        pytest.param([ASKED, ASKED | {"promptId": "p2", "channelId": "C"}], 2, True, id="two"),
        pytest.param(
            [ASKED, ASKED | {"promptId": "p2", "channelId": "C"}], 1, False, id="the last"
        ),
        pytest.param([ASKED, OVER | {"promptId": f.PROMPT}], 1, False, id="its turn is over"),
        pytest.param([{**ASKED, "promptId": None}], 1, False, id="no name"),
        pytest.param([ASKED], 0, False, id="none waits"),
        pytest.param([ASKED], -1, False, id="less than none"),
        pytest.param([ASKED], [f.PROMPT], False, id="no number"),
    ],
)
def test_an_agent_that_does_not_mark_what_waits_says_how_many(
    messages: list[Json],
    count: object,
    waits: bool,  # noqa: FBT001
) -> None:
    turn = resumed(hello(*messages, promptsQueued=count))
    assert (turn.outcome is None) is waits

    turn.frames([f.begin()], 2)
    assert turn.turn_id == (f.OURS if waits else None)


@pytest.mark.nameless(
    "`runnerBusy` without `runningTurnId`",
    "never: our prompt waits until it ends",
    "it was running before our prompt",
)
def test_what_waits_behind_a_turn_without_a_name_may_wait_as_long() -> None:
    limits = Limits(queue_wait_s=600, idle_s=120)
    turn = Turn(V2.resume(LOOK), limits, UIMessageStream())
    turn.handle(Opened(), 0)

    assert b'"status":"queued"' in turn.frames([hello(WAITING, runnerBusy=True)], 1).to_client
    turn.handle(Tick(), 599)
    assert turn.outcome is None
    turn.handle(Tick(), 601)
    assert turn.outcome is Outcome.SILENT


def test_what_an_agent_says_by_null_it_does_not_say() -> None:
    nothing = dict.fromkeys(
        ["callId", "toolName", "questionId", "expired", "url", "mime", "sourceId", "title"]
    )
    parts = [
        {**nothing, "type": "text", "text": "hello"},
        {**nothing, "type": "file", "url": "https://a.example/"},
        {**nothing, "type": "source", "url": "https://a.example/"},
        {**nothing, "type": "tool-call", "callId": "c1", "status": "pending"},
        {**nothing, "type": "question", "questionId": "q1"},
    ]
    asked = TURN | {"parts": parts, "queued": None}
    _, written = stream(V2.resume(LOOK), [hello(asked, runnerBusy=None, runningTurnId=f.OURS)])

    kinds = [part["type"] for part in read(written).parts if part["type"] != "step-start"]
    assert kinds == ["text", "file", "source-url", "tool-", "data-question"]


@pytest.mark.parametrize("half", [-1, 0xDC00, 1 << 40, 1 << 80, "x"])
def test_a_half_that_is_none_is_not_taken(half: object) -> None:
    parts = [{"type": "text", "text": "a", "turnwire:half": half}, {"type": "text", "text": "b"}]
    _, written = stream(V2.resume(LOOK), [hello(TURN | {"parts": parts}, runnerBusy=True)])

    assert [part.get("text") for part in read(written).parts if part["type"] == "text"] == ["b"]


def test_of_two_that_wait_the_first_is_followed() -> None:
    turn = resumed(hello(WAITING, WAITING | {"id": "e2", "promptId": "p2"}))

    turn.frames([f.begin("turn-2", "p2")], 2)
    assert turn.turn_id is None


def test_what_waits_without_a_name_is_the_next_turn_of_its_channel() -> None:
    waiting = {name: value for name, value in WAITING.items() if name != "promptId"}
    turn = resumed(hello(waiting))

    turn.frames([f.create("turn-8", channelId="C"), f.create()], 2)
    assert turn.turn_id == f.OURS


def test_a_prompt_that_is_taken_back_while_it_waits() -> None:
    turn = resumed(hello(WAITING))

    body = turn.frames([f.frame("error", error="taken back", promptId=f.PROMPT)], 2).to_client
    assert turn.outcome is Outcome.FAILED
    assert b"taken back" in body


def test_a_question_that_was_asked_before_is_closed_after() -> None:
    asked = {"type": "question", "questionId": "q1", "text": "ok?"}
    turn = resumed(hello(TURN | {"parts": [asked]}, runnerBusy=True))

    told = turn.frames([f.frame("question.resolved", questionId="q1", answer="yes")], 2).to_client
    assert b'"state":"resolved"' in told


def test_it_aborts_nothing_whatever_happens() -> None:
    conversation = V2.resume(LOOK)
    conversation.connection_opened(0)
    for frame in (hello(WAITING), f.begin(), f.part("a")):
        assert (conversation.abort_scope, list(conversation.abort())) == (AbortScope.NONE, [])
        conversation.receive_frame(frame, 1)
    conversation.client_detached()
    assert (conversation.abort_scope, list(conversation.abort())) == (AbortScope.NONE, [])
    assert not conversation.has_other_watchers


@pytest.mark.parametrize("init", [hello(TURN, runnerBusy=True), hello(WAITING)])
def test_it_is_company_to_who_asked(init: bytes) -> None:
    group = SessionGroup()
    asking = V2.prompt(PromptRequest(text="hi", prompt_id=f.PROMPT), Member(group))
    asking.connection_opened(0)
    asking.receive_frame(f.begin(), 1)
    assert not asking.has_other_watchers

    resumed(init, member=Member(group))

    assert asking.has_other_watchers


def test_an_id_that_a_client_gave_its_prompt_is_not_used_again() -> None:
    """As in the turn's own stream: the client would overwrite the prompt."""
    asked = {"id": "e1", "role": "user", "clientMessageId": f.OURS, "parts": []}
    _, written = stream(V2.resume(LOOK), [hello(asked, TURN, runnerBusy=True)])

    assert read(written).message_id == f"{f.OURS}:answer"


def test_half_of_a_pair_in_the_hydration_finds_the_other_half() -> None:
    parts = [
        {"type": "reasoning", "text": "\ud83d"},
        {"type": "text", "text": "a\ud83d"},
        {"type": "text", "text": 7},
        {"type": "tool-call", "callId": "c1", "toolName": "x", "status": "pending"}
        | {"inputText": '["\ud83d'},
        "no part",
    ]
    init = hello(TURN | {"parts": parts}, "no message", {"parts": 7}, runnerBusy=True)  # type: ignore[arg-type]

    rest = [f.tool_input('\ude00"]', name="x"), f.tool("completed", name="x")]
    _, written = stream(V2.resume(LOOK), [init, f.part("\ude00b"), *rest])

    shown = read(written).parts
    assert [part.get("text") for part in shown] == [None, "\ufffd", "a\ufffd", None, "\ufffdb"]
    assert shown[3]["input"] == ["\U0001f600"]


@pytest.mark.parametrize("session", [b"7", b'{"messages":[7,{"parts":[{"type":"x"}]}]}'])
def test_a_hydration_of_another_shape_with_halves_in_it(session: bytes) -> None:
    init = b'{"type":"init","x":"\\ud83d","session":' + session + b"}"

    assert resumed(init).outcome is Outcome.NOTHING


def test_parts_of_another_shape_are_left_out() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "text"},
        {"type": "reasoning", "text": None},
        {"type": 7},
        {"no": "type"},
        {"type": "tool-call", "toolName": "x", "status": "running"},
        {"type": "tool-call", "callId": "c1", "toolName": "x", "status": "exploded"},
        {"type": "question"},
        {"type": "file"},
        {"type": "source", "sourceId": "s"},
        {"type": "new", "text": "b"},
        {"type": "text", "text": "c"},
    ]
    _, written = stream(V2.resume(LOOK), [hello(TURN | {"parts": parts}, runnerBusy=True)])

    assert [part for part in read(written).parts if part["type"] != "step-start"] == [
        {"type": "text", "text": "ac", "state": "done"}
    ]
