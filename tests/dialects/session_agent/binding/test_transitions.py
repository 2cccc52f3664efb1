"""The table that binds a prompt to its turn: whole, reachable, and each row used by frames."""

import ast
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, cast

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation
from support.session_agent_resumed import busy, made
from turnwire.core.requests import PromptRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.dialects import session_agent
from turnwire.dialects.session_agent.binding import TurnBinding
from turnwire.dialects.session_agent.binding.transitions import (
    _ROWS,
    IGNORED,
    TRANSITIONS,
    Stage,
    Trigger,
)
from turnwire.dialects.session_agent.turn import RESPONSE_S, TurnProtocol

ROOM: Final = Path(session_agent.__file__).parent
PAIRS: Final = list(itertools.product(Stage, Trigger))

CELLS: Final = """
AWAITING_INIT  GG....-.--.-..-...G
LOOKING        ...G..-G--.-GG-...G
AWAITING_LOCK  ..G...-.--.-..-....
SENT           ...GG.-.--.-..--GGG
QUEUED         ....GG-G--.-GG--GGG
ECHOED         ....-.GGGGGG..GG..G
DISPATCHED     ....-.---GGG..GG..G
WORKING        ....-.---G-G-GGG..G
RUNNING        ....-.---G-G..G-GGG
RUNNER_LOST    ....G.-G----..GG..G
SUPERSEDED     ....-.----.-..--GGG
FINISHED       ....-.----.-..-...G
CANCELED       ....-.---G.-..G...G
OVER           ...............-..-
"""
"""Each state, and what each trigger does there, in the order of `Trigger`: it goes on (G), is
ignored (-), or is impossible (.)."""


def cell(stage: Stage, trigger: Trigger) -> str:
    if (stage, trigger) in TRANSITIONS:
        return "G"
    return "-" if trigger in IGNORED[stage] else "."


def bound(stage: Stage) -> TurnBinding:
    binding = TurnBinding(PromptRequest(text="two", prompt_id="p1"), Member())
    binding.stage = stage
    return binding


# The table is whole.


def test_every_pair_of_state_and_trigger_is_decided() -> None:
    cells = dict(line.split() for line in CELLS.strip().splitlines())

    assert cells == {s.name: "".join(cell(s, t) for t in Trigger) for s in Stage}


def test_no_pair_has_two_rows_or_is_ignored_too() -> None:
    assert len(TRANSITIONS) == sum(len(stages) for stages, _, _ in _ROWS)
    assert [(s, t) for s, t in PAIRS if (s, t) in TRANSITIONS and t in IGNORED[s]] == []


@pytest.mark.parametrize(("stage", "trigger"), PAIRS)
def test_what_is_in_the_table_happens(stage: Stage, trigger: Trigger) -> None:
    binding = bound(stage)

    match cell(stage, trigger):
        case "G":
            assert binding._apply(trigger)
            assert binding.stage is TRANSITIONS[stage, trigger]
        case "-":
            assert not binding._apply(trigger)
            assert binding.stage is stage
        case _:
            with pytest.raises(AssertionError, match=f"{trigger} is impossible in {stage}"):
                binding._apply(trigger)


def test_every_state_is_reached_from_the_first() -> None:
    reached = [Stage.AWAITING_INIT]
    for stage in reached:
        ways = (TRANSITIONS.get((stage, trigger)) for trigger in Trigger)
        reached += {way for way in ways if way is not None and way not in reached}

    assert set(reached) == set(Stage)


# The state changes nowhere else.


def assignments(path: Path) -> Iterator[str]:
    """The functions of a module that set a `stage`."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
                if is_set and ast.unparse(node).endswith(".stage"):
                    yield f"{path.name}: {function.name}"


def test_the_state_changes_in_one_function() -> None:
    found = [found for path in sorted(ROOM.rglob("*.py")) for found in assignments(path)]

    assert found == ["__init__.py: __init__", "__init__.py: _apply"]


# Each row is used by frames.

Play = Callable[[TurnProtocol], object]

LOST: Final = f.status(runnerDisconnected=True, queuedPrompts=1)
NEXT: Final = f.status(promptQueued=True, queuePosition=1)
OUT: Final = f.status(promptDequeued=True, remaining=0)
WAITING: Final = f.init("V", runnerBusy=True, pendingPrompt={"messageId": "P1", "content": "q"})


def ran(*frames: bytes) -> TurnProtocol:
    """Our turn runs on R, and these frames come."""
    return conversation(*f.running("R"), *frames)


def behind() -> Member:
    """A member of a group whose prompt lock another member holds."""
    group = SessionGroup()
    assert Member(group).acquire("u2")
    return Member(group)


def comes(*frames: bytes) -> Play:
    def play(protocol: TurnProtocol) -> None:
        for frame in frames:
            protocol.receive_frame(frame, 0)

    return play


def lock_is_free(protocol: TurnProtocol) -> None:
    holder = protocol._member._group.lock_holder
    assert holder is not None
    holder.release()
    protocol.tick(0)


def is_silent(protocol: TurnProtocol) -> None:
    protocol.tick(RESPONSE_S)


PLACES: Final[dict[Stage, Callable[[], TurnProtocol]]] = {
    Stage.AWAITING_INIT: lambda: conversation(member=behind()),
    Stage.AWAITING_LOCK: lambda: conversation(f.init("R"), member=behind()),
    Stage.LOOKING: lambda: made(busy("V")),
    # A prompt whose runner was lost, so that its former turn may still be reported.
    Stage.SENT: lambda: ran(LOST, f.user(), NEXT, f.user(by="u2")),
    Stage.QUEUED: lambda: ran(LOST, f.user(), NEXT),
    Stage.ECHOED: lambda: ran(LOST, f.user()),
    Stage.DISPATCHED: lambda: ran(LOST, OUT),
    Stage.WORKING: lambda: ran(LOST, OUT, f.doing("thinking")),
    Stage.RUNNING: ran,
    Stage.RUNNER_LOST: lambda: ran(LOST),
    Stage.SUPERSEDED: lambda: ran(OUT),
    Stage.FINISHED: lambda: ran(f.updated(f.tool("running"), f.END)),
    Stage.CANCELED: lambda: ran(f.updated(f.finish("canceled"))),
}

PLAYS: Final[dict[Trigger, Play]] = {
    Trigger.INIT: comes(f.init("R")),
    Trigger.INIT_TO_FOLLOW: comes(busy("V")),
    Trigger.PROMPT_SENT: lock_is_free,
    Trigger.PROMPT_WAITS: comes(f.pending()),
    Trigger.PROMPT_ECHOED: comes(f.user()),
    Trigger.PROMPT_DISOWNED: comes(f.user(by="u2")),
    Trigger.PROMPT_QUEUED: comes(NEXT),
    Trigger.PROMPT_DISPATCHED: comes(OUT),
    Trigger.OTHER_ECHOED: comes(f.user("three", "P3", by="u2")),
    Trigger.OTHER_FOLLOWS: comes(f.status(promptDequeued=True, messageId="P9", **f.CHANNEL)),
    Trigger.RUNNER_WORKING: comes(f.doing("thinking")),
    Trigger.RUNNER_LOST: comes(LOST),
    Trigger.WORK_FOUND: comes(f.asked("V")),
    Trigger.TURN_FOUND: comes(f.chunk("x")),
    Trigger.TURN_BEGAN: comes(f.begin("turn-2")),
    Trigger.TURN_ALIVE: comes(f.chunk("x")),
    Trigger.FINISH_PART: comes(f.updated(f.tool("running"), f.END)),
    Trigger.FINISH_CANCELED: comes(f.updated(f.finish("canceled"))),
    Trigger.END: comes(f.status(status="error")),
}

OTHER_PLACES: Final[dict[tuple[Stage, Trigger], Callable[[], TurnProtocol]]] = {
    (Stage.AWAITING_INIT, Trigger.INIT_TO_FOLLOW): made,
    (Stage.ECHOED, Trigger.PROMPT_DISPATCHED): lambda: conversation(f.init("A"), f.user()),
    (Stage.QUEUED, Trigger.WORK_FOUND): lambda: made(WAITING),
    (Stage.QUEUED, Trigger.TURN_FOUND): lambda: made(WAITING),
    (Stage.WORKING, Trigger.TURN_FOUND): lambda: made(busy("V"), f.asked("V")),
}

OTHER_PLAYS: Final[dict[tuple[Stage, Trigger], Play]] = {
    (Stage.AWAITING_INIT, Trigger.END): is_silent,
    (Stage.LOOKING, Trigger.PROMPT_DISPATCHED): comes(f.user("q", "P1", by="u2")),
    (Stage.CANCELED, Trigger.OTHER_FOLLOWS): comes(f.user("three", "P3", by="u2")),
}

IN_ONE_FRAME: Final = (Stage.LOOKING, Trigger.PROMPT_WAITS)
"""`init` says both: that a stream follows, and which prompt it waits for."""


def place(pair: tuple[Stage, Trigger]) -> TurnProtocol:
    if pair == IN_ONE_FRAME:
        return made()
    reached = OTHER_PLACES.get(pair, PLACES[pair[0]])()
    assert reached._binding.stage is pair[0]
    return reached


def play(pair: tuple[Stage, Trigger], protocol: TurnProtocol) -> None:
    if pair == IN_ONE_FRAME:
        protocol.receive_frame(WAITING, 0)
    else:
        OTHER_PLAYS.get(pair, PLAYS[pair[1]])(protocol)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair in TRANSITIONS])
def test_no_row_is_dead(pair: tuple[Stage, Trigger], monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = place(pair)
    play(pair, protocol)
    assert protocol._binding.stage is TRANSITIONS[pair]

    protocol = place(pair)
    monkeypatch.delitem(cast("dict[tuple[Stage, Trigger], Stage]", TRANSITIONS), pair)
    with pytest.raises(AssertionError, match=f"{pair[1]} is impossible in {pair[0]}"):
        play(pair, protocol)
