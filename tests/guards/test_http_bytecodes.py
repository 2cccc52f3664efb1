"""Bytecodes a frame and a turn of agents over HTTP, as `test_bytecodes` counts them."""

import asyncio
import sys
from collections.abc import Sequence

import pytest

from guards.counting import counted, opcodes
from guards.limits import hold
from guards.offline_http import DELTA, NOISY, offline
from support import ag_ui_frames as f
from support.http_dialect import CHUNKED, chunk
from turnwire.core.recording.drift import STREAMS_FIRST
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.http.incoming import Incoming

pytestmark = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the limits are bytecodes of Python 3.11"
)

FEW, MANY = 300, 900


def test_a_delta_of_ag_ui_in_the_core() -> None:
    turn = Turn(
        DIALECTS["ag-ui"].prompt(PromptRequest(text="hi", prompt_id="p")),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)
    turn.frames([f.started("p"), DELTA], 0)
    few = opcodes(lambda: turn.frames([DELTA] * FEW, 1))
    many = opcodes(lambda: turn.frames([DELTA] * MANY, 1))

    hold("ag-ui: bytecodes a delta", (many - few) / (MANY - FEW))


def test_an_event_cut_out_of_a_response() -> None:
    incoming = Incoming(("text/event-stream",), 1_000_000)
    incoming.read(CHUNKED)
    event = chunk(b"data: %b\n\n" % DELTA)
    few, many = event * FEW, event * MANY
    more = opcodes(lambda: incoming.read(many)) - opcodes(lambda: incoming.read(few))

    hold("http: bytecodes an event cut out", more / (MANY - FEW))


async def gateway(*reads: Sequence[bytes], turn_log: str = "off") -> int:
    """Bytecodes of a turn of the gateway, on a kept connection."""
    with offline(*reads, turn_log=turn_log) as gateway:
        for _ in range(STREAMS_FIRST + 1):
            await gateway.turn()
        with counted() as count:
            await asyncio.create_task(gateway.turn())
    return count.opcodes


async def test_a_short_turn_over_http() -> None:
    hold("http: bytecodes a short turn", await gateway([DELTA] * 5))


async def test_a_frame_over_http() -> None:
    more = await gateway([DELTA] * MANY) - await gateway([DELTA] * FEW)

    hold("http: bytecodes a frame in a burst", more / (MANY - FEW))


@pytest.mark.parametrize(
    ("name", "read"), [("frame in a read of its own", [DELTA]), ("frame beside 20 KB", NOISY)]
)
async def test_a_paced_frame_over_http(name: str, read: Sequence[bytes]) -> None:
    more = await gateway(*[read] * 96) - await gateway(*[read] * 32)

    hold(f"http: bytecodes a {name}", more / 64)
