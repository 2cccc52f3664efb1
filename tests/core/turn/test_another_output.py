"""A turn whose client reads another output than the UI message stream."""

from typing import Any

import pytest

from support import v2_frames as f
from support.plain_output import PlainText
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, Blocked, Held, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.portions import EVENTS
from turnwire.core.turn.turn import Turn
from turnwire.dialects import DIALECTS

BEGUN = f"\nturn {f.OURS}\n".encode()


def begun(output: PlainText | None = None, **limits: Any) -> Turn:
    protocol = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    turn = Turn(protocol, Limits(**limits), output or PlainText())
    opening = turn.handle(Opened(), 0).to_client
    assert opening + turn.frames([f.begin()], 1).to_client == BEGUN
    return turn


def test_a_whole_turn_is_written() -> None:
    turn = begun()

    written = turn.frames([f.part("Hello"), f.part(" world"), f.tool("running", args={})], 2)
    written_later = turn.frames([f.tool("completed"), f.part("Bye"), f.finalize()], 3)

    assert written.to_client == b"Hello world"
    assert written_later.to_client == b"\n[bash]\nBye\n[end_turn]\n"
    assert turn.outcome is Outcome.COMPLETED


def test_an_end_of_the_gateway_is_written() -> None:
    assert begun().handle(AgentLeft(), 2).to_client == b"\n[error: Stream interrupted]\n"


def test_a_keepalive_is_written() -> None:
    turn = begun(keepalive_s=5)

    assert turn.handle(Tick(), 6).to_client == PlainText.keepalive
    assert turn.keepalives == 1


def test_a_question_pauses_the_turn() -> None:
    turn = begun()

    written = turn.frames([f.part("May I?"), f.question("q1")], 2).to_client

    assert written == b"May I?\n[q1?]\n[waiting]\n"
    assert turn.outcome is Outcome.ASKED


class _WithoutPauses(PlainText):
    can_pause = False


def test_a_question_pauses_no_turn_if_the_output_cannot_pause() -> None:
    turn = begun(_WithoutPauses())

    assert turn.frames([f.question("q1")], 2).to_client == b"\n[q1?]\n"
    assert turn.outcome is None


def resumed() -> Turn:
    protocol = DIALECTS["v2"].resume(ResumeRequest(user_id="u1", init_s=5))
    turn = Turn(protocol, Limits(), PlainText())
    turn.handle(Opened(), 0)
    return turn


def init(*parts: dict[str, Any]) -> bytes:
    message = {"id": "t", "role": "assistant", "parts": parts}
    running = {"runnerBusy": True, "runningTurnId": "t"}
    return f.frame("init", session={"messages": [message]}, data=running)


def test_a_long_frame_is_written_in_portions() -> None:
    texts = [{"type": "text", "text": character * 70_000} for character in "xy"]

    writes = [output.to_client for output in resumed().long_frame(init(*texts), 1)]

    assert b"".join(writes) == b"\nturn t\n" + b"x" * 70_000 + b"y" * 70_000
    assert len(writes) > 1


ANSWERED = {"type": "question", "questionId": "q1", "text": "ok?", "answer": "yes"}


def test_the_output_knows_that_a_question_of_the_frame_is_answered_in_it() -> None:
    turn = resumed()

    assert turn.frames([init(ANSWERED)], 1).to_client == b"\nturn t\n"
    assert turn.outcome is None


@pytest.mark.parametrize("calls", range(EVENTS - 4, EVENTS + 1))
def test_it_knows_that_too_if_the_answer_is_in_the_next_portion(calls: int) -> None:
    call = {"type": "tool-call", "toolName": "t", "status": "completed", "args": {}}
    parts = [{**call, "callId": f"c{number}"} for number in range(calls)]
    turn = resumed()

    writes = [output.to_client for output in turn.long_frame(init(*parts, ANSWERED, *parts), 1)]

    assert b"".join(writes) == b"\nturn t\n" + b"\n[t]\n" * 2 * calls
    assert len(writes) > 1
    assert turn.outcome is None


def test_a_slow_client_is_written_the_end() -> None:
    turn = begun()
    turn.handle(Blocked(), 2)

    assert turn.handle(Held(2**21), 3).to_client == b"\n[error: Client too slow]\n"


RUNNING, DONE, TEXT = f.tool("running", args={}), f.tool("completed"), f.part("x")


@pytest.mark.parametrize(
    ("reads", "silent_after_s"),
    [
        ([[TEXT]], 10),
        ([[RUNNING], [TEXT]], 30),
        ([[RUNNING], [DONE]], 10),
        ([[RUNNING, DONE, RUNNING]], 10),  # a repetition
        ([[RUNNING, DONE, TEXT, RUNNING]], 30),  # a new call
        ([[RUNNING, DONE], [TEXT], [RUNNING]], 30),
    ],
)
def test_a_running_tool_is_waited_for(reads: list[list[bytes]], silent_after_s: int) -> None:
    """The output keeps no calls: the turn counts them itself."""
    turn = begun(idle_s=10, tool_silence_s=30, keepalive_s=1_000)
    for read in reads:
        turn.frames(read, 2)

    assert turn.handle(Tick(), 2 + silent_after_s - 0.1).to_client == b""
    assert turn.outcome is None
    turn.handle(Tick(), 2 + silent_after_s)
    assert turn.outcome is Outcome.SILENT
