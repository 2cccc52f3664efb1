"""Bytecodes a frame, a read and a turn: speed that is lost shows here, on whatever machine."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway import frames
from guards.counting import counted, opcodes
from guards.limits import hold
from guards.offline import DELTA, Offline, OfflineDialler, begun_turn, deltas, turns
from turnwire.core.recording.drift import STREAMS_FIRST
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.websocket_fast_path import split_text_frames

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the limits are bytecodes of Python 3.11"
)

FEW, MANY = 300, 900
GOLDEN = Path(__file__).parents[1] / "golden"


def test_a_delta_in_the_core() -> None:
    turn = begun_turn()
    few = opcodes(lambda: turn.frames(deltas(FEW), 1))
    many = opcodes(lambda: turn.frames(deltas(MANY), 1))

    hold("core: bytecodes a delta", (many - few) / (MANY - FEW))


def test_a_delta_told_twice() -> None:
    twice = [DELTA, frames.text(frames.chunk_text("T0000000000000000ab")).encode()]
    turn = begun_turn()
    few = opcodes(lambda: turn.frames(twice * FEW, 1))
    many = opcodes(lambda: turn.frames(twice * MANY, 1))

    hold("core: bytecodes a delta sent twice", (many - few) / (MANY - FEW))


def test_a_read_in_the_core() -> None:
    turn = begun_turn()

    hold("core: bytecodes a read of one delta", opcodes(lambda: turn.frames([DELTA], 1)))


def test_a_turn_in_the_core() -> None:
    said = [
        frames.create("p"),
        *[frames.delta("hello")] * 5,
        frames.running_tool(),
        frames.finalize(),
    ]
    read = [frames.text(one).encode() for one in said]

    def turn() -> None:
        turn = Turn(
            DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id="p")),
            Limits(),
            UIMessageStream(),
        )
        turn.handle(Opened(), 0)
        turn.frames(read, 1)
        assert turn.outcome is not None

    turn()
    hold("core: bytecodes a short turn", opcodes(turn))


def test_a_turn_of_session_agent_in_the_core() -> None:
    recorded = (GOLDEN / "session-agent-R" / "tool.jsonl").read_bytes().splitlines()
    prompt = next(line for line in recorded if line.startswith(b"#! prompt "))
    read = [line for line in recorded if not line.startswith(b"#")]
    request = PromptRequest(
        text=prompt.removeprefix(b"#! prompt ").decode(), prompt_id="p", user_id="u1"
    )

    def turn() -> None:
        turn = Turn(DIALECTS["session-agent"].prompt(request), Limits(), UIMessageStream())
        turn.handle(Opened(), 0)
        turn.frames(read, 1)
        assert turn.outcome is Outcome.COMPLETED

    turn()
    hold("core: bytecodes a short turn of session-agent", opcodes(turn))


def test_a_frame_cut_out_of_a_read() -> None:
    few, many = (frames.raw(DELTA) * count for count in (FEW, MANY))
    more = opcodes(lambda: split_text_frames(many, 4_000)) - opcodes(
        lambda: split_text_frames(few, 4_000)
    )

    hold("relay: bytecodes a frame cut out", more / (MANY - FEW))


async def gateway(*reads: int, turn_log: str = "off") -> int:
    """Bytecodes of a turn of the gateway, all of it but its server and its loop."""
    offline = Offline(OfflineDialler(turns(*reads)), turn_log=turn_log)
    for _ in range(STREAMS_FIRST + 1):  # which are watched, and fill what is remembered
        await offline.turn()
    with counted() as count:
        await asyncio.create_task(offline.turn())
    return count.opcodes


async def test_a_short_turn_of_the_gateway() -> None:
    hold("gateway: bytecodes a short turn", await gateway(5))


async def test_a_frame_of_the_gateway() -> None:
    more = await gateway(MANY) - await gateway(FEW)

    hold("gateway: bytecodes a frame in a burst", more / (MANY - FEW))


async def test_a_paced_frame_of_the_gateway() -> None:
    more = await gateway(*[1] * 96) - await gateway(*[1] * 32)

    hold("gateway: bytecodes a frame in a read of its own", more / 64)


async def test_a_paced_frame_that_the_turn_log_keeps() -> None:
    more = await gateway(*[1] * 96, turn_log="memory") - await gateway(*[1] * 32, turn_log="memory")

    hold("turn log: bytecodes a frame in a read of its own", more / 64)


def test_code_beside_the_packages_is_not_counted(tmp_path: Path) -> None:
    """In a folder that has a package's name too, as that of a clone has."""
    file = tmp_path / "turnwire" / "websockets" / "beside.py"
    beside: dict[str, Callable[[], int]] = {}
    exec(compile("def call():\n return sum(range(9))\n", file, "exec"), beside)  # noqa: S102 (ours)

    assert opcodes(beside["call"]) == 0
    assert opcodes(lambda: split_text_frames(b"", 4_000)) > 0
