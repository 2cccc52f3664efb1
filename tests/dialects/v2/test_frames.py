"""Frames that are nested almost too deeply: the limit is a look's own, and some take two looks."""

from typing import Any

import pytest

from support import v2_frames as f
from support.turns import opened
from turnwire.core.operations import Operation
from turnwire.core.requests import HistoryRequest, StopRequest
from turnwire.dialects import DIALECTS

V2 = DIALECTS["v2"]

DEPTHS = (500, *range(860, 1010), 2_000, 100_000)

FRAMES = {
    "a tool's args": b'{"type":"message.part.tool-update","turnId":"turn-1","callId":"c",'
    b'"toolName":"t","status":"running","args":%b}',
    "a tool's result": b'{"type":"message.part.tool-update","turnId":"turn-1","callId":"c",'
    b'"toolName":"t","status":"completed","result":%b}',
    "a question": b'{"type":"question","questionId":"q","text":"t","turnId":"turn-1","options":%b}',
    "an answer": b'{"type":"question.resolved","questionId":"q","answer":%b}',
    "a history": b'{"type":"init","session":{"id":"s","status":"idle","messages":[{"id":"m",'
    b'"role":"assistant","parts":[{"type":"tool-call","callId":"c","toolName":"t",'
    b'"status":"completed","args":%b}]}]},"data":{"runnerBusy":true,"runningTurnId":"m"}}',
    "an unknown type": b'{"type":"unheard-of","x":%b}',
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=list(FRAMES))
@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_no_depth_breaks_the_turn(frame: bytes, begin: bytes, end: bytes) -> None:
    for depth in DEPTHS:
        turn = opened(f.begin())
        turn.frames([frame % (begin * depth + b"1" + end * depth)], 2)

        last = turn.frames([f.part("still here"), f.finalize()], 3).to_client

        assert b"still here" in last
        assert last.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_no_depth_breaks_an_errand(begin: bytes, end: bytes) -> None:
    for depth in DEPTHS:
        history = FRAMES["a history"] % (begin * depth + b"1" + end * depth)
        errands: list[Operation[Any]] = [
            V2.stop(StopRequest(user_id="u1", init_s=5, verdict_s=5)),
            V2.read_history(HistoryRequest(user_id="u1", limit=100, init_s=5, verdict_s=5)),
        ]
        for operation in errands:
            operation.connection_opened(0)
            operation.receive_frame(history, 1)
            operation.tick(6)
            operation.tick(100)

            assert operation.result is not None
