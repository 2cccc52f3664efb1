"""A socket hears every turn of its session: which one is ours, and what others do to it."""

import json
from typing import Any

import pytest

from support import v2_frames as f
from support.decoded import outputs
from support.v2_protocol import conversation
from turnwire.core.agent import ALIVE, AbortScope, Decoded
from turnwire.core.events import Queued, Reason, TurnFinished, TurnStarted
from turnwire.core.requests import Channel

OTHER = f.begin("turn-0", "p0")
NAMELESS = f.init(runnerBusy=True)
STARTED = Decoded([TurnStarted(f.OURS)])


@pytest.mark.nameless(
    "`message.create` without `promptId`",
    "`together`: as the first on our channel after our prompt, while none is open there, "
    "and for one stream alone",
    "an agent that names no prompts gives no better sign; it is exact for one open prompt in "
    "each channel",
)
@pytest.mark.parametrize(
    ("before", "create", "is_ours"),
    [
        pytest.param([], f.begin(), True, id="it has our promptId"),
        pytest.param([], f.begin(prompt="p0"), False, id="it has another promptId"),
        pytest.param([OTHER], f.begin(), True, id="ours, while another is open"),
        pytest.param([f.part("early")], f.begin(), True, id="ours, after its first delta"),
        pytest.param([], f.create(), True, id="no promptId: the first on our channel"),
        pytest.param([], f.create(promptId=""), True, id="an empty promptId is none"),
        pytest.param([], f.create(channelType="web", channelId="default"), True, id="ours, named"),
        pytest.param([], f.create(channelId="other"), False, id="no promptId, another channel"),
        pytest.param([], f.create(channelType="slack"), False, id="another type of channel"),
        pytest.param([OTHER], f.create(), False, id="a socket that saw a promptId needs one"),
        pytest.param(
            [f.create("turn-0", channelId="x")], f.create(), True, id="others on other channels"
        ),
        pytest.param(
            [f.part("x", "turn-0")], f.create(), False, id="one is open, its channel not known"
        ),
        pytest.param(
            [f.part("x", "turn-0"), f.finalize("turn-0")], f.create(), True, id="it was closed"
        ),
        pytest.param([NAMELESS], f.create(), False, id="init says busy"),
        pytest.param([f.init(runningTurnId="turn-0")], f.create(), False, id="init names another"),
        pytest.param(
            [NAMELESS, f.finalize("turn-0")], f.create(), True, id="the one without a name ended"
        ),
        pytest.param(
            [NAMELESS, f.part("x", "turn-0"), f.finalize("turn-0")],
            f.create(),
            True,
            id="the one without a name had told its name",
        ),
        pytest.param(
            [f.init(runningTurnId="turn-0"), f.finalize("turn-0"), NAMELESS, f.finalize("turn-0")],
            f.create(),
            False,
            id="a finalize told again does not end the one without a name",
        ),
        pytest.param([NAMELESS, f.frame("complete")], f.create(), True, id="the agent is idle"),
        pytest.param(
            [f.frame("init", session={"messages": [{"id": "u0", "promptId": "p0"}]})],
            f.create(),
            False,
            id="init tells of a promptId",
        ),
        pytest.param(
            [f.frame("init", session={"messages": [{"id": "u0"}, 7]})],
            f.create(),
            True,
            id="an init whose history is none of ours",
        ),
        pytest.param(
            [f.frame("complete", promptId="p0")],
            f.create(),
            False,
            id="a promptId was seen on another frame",
        ),
        pytest.param(
            [f.init(runningTurnId="turn-0"), f.frame("error", error="no", turnId="turn-0")],
            f.create(),
            True,
            id="the other ended with an error",
        ),
        pytest.param(
            [f.create("turn-0"), f.frame("complete", channelId="x"), f.frame("pong")],
            f.create(),
            False,
            id="idle on another channel is not idle on ours",
        ),
        pytest.param(
            [f.init(runningTurnId="turn-0"), f.frame("complete", turnId="turn-0")],
            f.create(),
            True,
            id="the other is complete",
        ),
        pytest.param(
            [f.init(runningTurnId="turn-0"), f.frame("complete", promptId="p0")],
            f.create(),
            False,
            id="a prompt is complete that names no turn we know",
        ),
        pytest.param(
            [f.finalize("turn-0"), f.part("late", "turn-0")],
            f.create(),
            True,
            id="a late frame does not open a turn again",
        ),
    ],
)
def test_which_turn_is_ours(*, before: list[bytes], create: bytes, is_ours: bool) -> None:
    made = conversation(*before)

    assert (made.receive_frame(create, 0) == STARTED) == is_ours


def test_without_prompt_ids_the_second_turn_is_not_ours() -> None:
    made = conversation(f.create())

    assert made.receive_frame(f.create("turn-2"), 0) is None
    assert made.receive_frame(f.create(), 0) == ALIVE
    assert made.receive_frame(f.part("x", "turn-2"), 0) is None
    assert made.receive_frame(f.part("x"), 0) == "x"


@pytest.mark.nameless(
    "`message.create`, or an entry of `init`, without a channel",
    "if our channel is `web`, `default`",
    "the prompt named this channel, and the wire defines it as the default",
)
def test_the_channel_asked_for_is_the_channel_of_the_turn() -> None:
    made = conversation(channel=Channel("slack", "c1"))

    assert made.receive_frame(f.create("turn-0"), 0) == Decoded([Queued()])
    assert made.receive_frame(f.create(channelType="slack", channelId="c1"), 0) == STARTED


@pytest.mark.parametrize(
    "frame",
    [
        f.part("x", "turn-0"),
        f.chunk("x", "turn-0"),
        f.reasoning("x", "turn-0"),
        f.tool("running", turn="turn-0"),
        f.finalize("turn-0"),
        f.begin("turn-0", "p0"),
        f.frame("error", error="no", turnId="turn-0"),
        f.frame("error", error="no", promptId="p0"),
        f.frame("error", error="no", channelId="other"),
        f.frame("complete", turnId="turn-0"),
        f.frame("complete", promptId="p0"),
        f.frame("agentStatus", status="thinking", turnId="turn-0"),
        f.frame("agentStatus", status="thinking", channelType="slack"),
        f.question(turnId="turn-0"),
        f.frame("question.resolved", questionId="q1"),
        f.frame("question.expired", questionId="q1"),
        f.frame("error", error="no", turnId="turn-0", promptId="p1"),
    ],
)
def test_frames_of_other_turns_are_dropped_and_counted(frame: bytes) -> None:
    made = conversation(f.begin())

    assert made.receive_frame(frame, 0) is None
    assert made.frame_stats.foreign == 1


UNNAMED = f.frame("error", error="no")


@pytest.mark.parametrize(
    ("sign", "queued"),
    [
        (f.frame("agentStatus", status="thinking", turnId="turn-0"), True),
        (f.frame("agentStatus", status="idle", turnId="turn-0"), False),
        (f.question(turnId="turn-0"), True),
        (f.frame("complete", turnId="turn-0"), False),
    ],
)
def test_a_sign_of_another_turn_before_ours(sign: bytes, *, queued: bool) -> None:
    made = conversation(sign)

    assert made.queued is queued
    assert made.abort_scope is (AbortScope.SHARED if queued else AbortScope.OURS)
    assert bool(made.abort()) is not queued


@pytest.mark.parametrize("end", ["complete", "error"])
def test_a_prompt_of_another_that_ends_is_no_longer_ahead_of_us(end: str) -> None:
    made = conversation(OTHER)
    assert made.queued

    assert made.receive_frame(f.frame(end, promptId="p0"), 0) == ALIVE
    assert not made.queued


@pytest.mark.parametrize("end", ["complete", "error"])
def test_a_prompt_of_another_that_ends_leaves_the_others_ahead_of_us(end: str) -> None:
    made = conversation(OTHER, f.begin("turn-9", "p9"))

    made.receive_frame(f.frame(end, promptId="p0"), 0)

    assert made.queued


def test_idle_on_a_channel_ends_what_was_open_there() -> None:
    made = conversation(f.create("turn-0", channelId="x"), f.create("turn-9", channelId="y"))

    made.receive_frame(f.frame("complete", channelId="x"), 0)

    assert made.queued
    made.receive_frame(f.frame("complete", channelId="y"), 0)
    assert not made.queued


def test_once_our_turn_is_over_an_abort_would_hit_nothing_of_ours() -> None:
    made = conversation(f.begin(), f.finalize())

    assert made.abort_scope is AbortScope.NONE
    assert made.abort() == ()


@pytest.mark.parametrize("odd", [{"reason": None}, {"reason": 7}, {"finalText": 5}])
def test_what_is_odd_about_a_finalize_does_not_keep_the_turn_open(odd: dict[str, Any]) -> None:
    finalize = json.dumps({"type": "message.finalize", "turnId": f.OURS} | odd).encode()

    assert conversation(f.begin()).receive_frame(finalize, 0) == Decoded(
        [TurnFinished(reason=Reason.END_TURN)]
    )


@pytest.mark.nameless(
    "`error`, `agentStatus`, `question` without turn, prompt or channel",
    "while our turn is open, and before it while no other is known to be",
    "an agent that runs one turn at a time need not name it, and a bare error that refuses a "
    "prompt counts at once",
)
@pytest.mark.parametrize(
    ("before", "frame", "is_ours"),
    [
        pytest.param([], UNNAMED, True, id="a bare refusal is heard at once"),
        pytest.param([OTHER], UNNAMED, False, id="another turn is open"),
        pytest.param([NAMELESS], UNNAMED, False, id="init says busy"),
        pytest.param([f.init(runnerBusy=False)], UNNAMED, True, id="init says idle"),
        pytest.param([OTHER, f.finalize("turn-0")], UNNAMED, True, id="the other is over"),
        pytest.param([OTHER, f.begin()], UNNAMED, True, id="ours is open, beside another"),
        pytest.param([OTHER], f.frame("error", promptId="p1"), True, id="it has our promptId"),
        pytest.param([], f.frame("error", promptId="p0"), False, id="it has another promptId"),
        pytest.param([], f.frame("error", turnId="turn-1"), False, id="a turn not known as ours"),
        pytest.param(
            [],
            f.frame("error", turnId="turn-1", promptId="p1"),
            True,
            id="a turn that failed before it was created, with our promptId",
        ),
        pytest.param([f.begin()], f.frame("error", turnId="turn-1"), True, id="our turn"),
        pytest.param([f.begin()], f.frame("error", channelId="default"), True, id="our channel"),
        pytest.param([f.begin()], f.frame("error", channelId="x"), False, id="another channel"),
        pytest.param([], f.frame("error", channelId="default"), True, id="our channel, not begun"),
        pytest.param([], f.frame("error", channelId="x"), False, id="another channel, not begun"),
        pytest.param(
            [OTHER], f.frame("error", channelId="default"), False, id="our channel has another turn"
        ),
        pytest.param(
            [f.create("turn-0", promptId="p0", channelId="x")],
            f.frame("error", channelId="default"),
            True,
            id="another turn, on another channel",
        ),
    ],
)
def test_whom_a_frame_concerns_that_need_not_name_its_turn(
    *, before: list[bytes], frame: bytes, is_ours: bool
) -> None:
    told = conversation(*before).receive_frame(frame, 0)

    assert any(isinstance(event, TurnFinished) for event in outputs(told)) == is_ours


@pytest.mark.nameless(
    "`complete` without turn, prompt or channel",
    "while our turn is open",
    "it means that the agent is idle, so the turn is over",
)
def test_complete_before_our_turn_ends_nothing() -> None:
    made = conversation()

    assert made.receive_frame(f.frame("complete"), 0) is None
    assert made.receive_frame(f.begin(), 0) == STARTED


def test_our_prompt_started_over_is_followed() -> None:
    made = conversation(f.begin(), f.part("abc"))

    assert made.receive_frame(f.begin("turn-2"), 0) == Decoded([TurnStarted("turn-2")])
    assert made.receive_frame(f.part("late"), 0) is None
    assert made.receive_frame(f.chunk("abc", "turn-2"), 0) == "abc"


@pytest.mark.parametrize(
    ("frames", "queued", "aborts"),
    [
        pytest.param([], False, {"promptId"}, id="asked"),
        pytest.param([OTHER], True, None, id="queued"),
        pytest.param([NAMELESS], True, None, id="queued behind a turn without a name"),
        pytest.param([OTHER, f.finalize("turn-0")], False, {"promptId"}, id="next"),
        pytest.param([f.begin()], False, {"promptId", "turnId"}, id="running"),
        pytest.param(
            [OTHER, f.begin()], False, {"promptId", "turnId"}, id="running beside another"
        ),
        pytest.param([f.begin(), f.finalize()], False, None, id="over"),
        pytest.param([f.begin(), f.frame("complete")], False, None, id="complete"),
        pytest.param([f.begin(), UNNAMED], False, None, id="failed"),
        pytest.param([f.begin(), f.finalize(), f.begin("turn-2")], False, None, id="over for good"),
    ],
)
def test_whom_an_abort_would_hit(
    *, frames: list[bytes], queued: bool, aborts: set[str] | None
) -> None:
    made = conversation(*frames)

    sent: list[dict[str, Any]] = [json.loads(frame) for frame in made.abort()]

    assert made.queued == queued
    names = {"type", "channelType", "channelId"}
    assert [frame.keys() - names for frame in sent] == ([] if aborts is None else [aborts])
    assert all(frame["type"] == "abort" and frame["promptId"] == "p1" for frame in sent)


def test_busy_after_our_turn_began_is_our_own() -> None:
    made = conversation(f.begin())

    assert made.receive_frame(NAMELESS, 0) == ALIVE
    assert not made.queued


def test_the_other_turns_remembered_are_bounded() -> None:
    frames = [f.part("x", f"t{n}") for n in range(300)]
    ends = [f.finalize(f"t{n}") for n in range(300)]
    made = conversation(*frames)
    assert made.queued

    for frame in ends:
        made.receive_frame(frame, 0)

    assert not made.queued
    assert made.frame_stats.foreign == 600
    assert made.receive_frame(f.part("late", "t299"), 0) is None
    assert made.receive_frame(f.part("late", "t0"), 0) == Decoded([Queued()])  # forgotten
