"""Calls of a turn that goes on: the agent is sent what the client is shown of each.

An agent that keeps nothing would run a call again that it does not find, or finds without a result.
"""

import pytest

from support import ag_ui_frames as f
from support.ag_ui_asking import APPROVE, YES, answer, asking, in_request
from support.ag_ui_decisions import CALL_A

BEGUN = f.call("c0", "ping")
TORN = f.args('path":"b"}', "c0")
ENDED = f.call_end("c0")
PONG = f.result("pong", "c0", "t0")
IN_SNAPSHOT = f.snapshot(f.user(), f.assistant("", c0="{}"), f.tool("pong", "c0"))


@pytest.mark.parametrize("then", [[ENDED, PONG], [PONG, ENDED], [PONG], [ENDED, IN_SNAPSHOT]])
@pytest.mark.parametrize(("pieces", "sent"), [([], "{}"), ([TORN], 'path":"b"}')])
def test_a_call_has_its_result_whatever_was_told_of_its_input(
    pieces: list[bytes], sent: str, then: list[bytes]
) -> None:
    if then[-1] is IN_SNAPSHOT:
        sent = "{}"
    played = answer(asking(BEGUN, *pieces, *then, *CALL_A, APPROVE), YES)

    assert played.calls()["c0"] == ({} if sent == "{}" else sent, "pong")
    assert in_request(played) == [("c0", sent), ("c0", "pong"), ("c1", '{"path":"a"}')]


def test_a_result_of_a_call_that_never_began_is_not_sent() -> None:
    """Nobody told its tool."""
    played = answer(asking(PONG, *CALL_A, APPROVE), YES)

    assert played.calls()["c0"] == ({}, "pong")
    assert in_request(played) == [("c1", '{"path":"a"}')]
