"""Each input of a turn is written as its lines, and read back from them."""

from typing import get_args

import pytest
from msgspec import Raw

from support.recorded import RECORDINGS
from turnwire.core.recording.input_lines import BadRecordingError, decode, encode
from turnwire.core.requests import QuestionReply
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    ClientStalled,
    Drain,
    Frames,
    Held,
    Input,
    Opened,
    Progressed,
    Readers,
    Refused,
    Replied,
    Stopped,
    Tick,
    Unblocked,
    Unreachable,
    Unsound,
)

LINES: dict[bytes, Input] = {
    b"#! opened": Opened(),
    b"#! unreachable": Unreachable(),
    b"#! refused": Refused(),
    b"#! close": AgentLeft(),
    b'#! replied {"questionId":"q 1","answer":{"a": [1]},"userId":"u1"}': Replied(
        QuestionReply("q 1", Raw(b'{"a": [1]}')), "u1"
    ),
    b'#! replied {"questionId":"q1","answer":"x","userId":"","subject":"AP8="}': Replied(
        QuestionReply("q1", Raw(b'"x"'), b"\0\xff"), ""
    ),
    b"#! stopped": Stopped(),
    b"#! readers 2": Readers(2),
    b"#! unsound": Unsound(),
    b"#! leave": ClientLeft(),
    b"#! stall": ClientStalled(),
    b"#! blocked": Blocked(),
    b"#! progressed 7": Progressed(7),
    b"#! held 1024": Held(1024),
    b"#! unblocked": Unblocked(),
    b"#! drain": Drain(),
    b"#! tick": Tick(),
    b'{"type":"init"}': Frames((b'{"type":"init"}',)),
    b'#! frame "[1]"': Frames((b"[1]",)),
}


@pytest.mark.parametrize("line", LINES)
def test_an_input_is_one_line(line: bytes) -> None:
    assert list(encode(LINES[line])) == [line]
    assert decode(line) == LINES[line]


def test_each_input_has_a_line() -> None:
    assert {type(turn_input) for turn_input in LINES.values()} == set(get_args(Input))


def test_each_frame_of_a_read_has_a_line() -> None:
    assert list(encode(Frames([b'{"a":\n1}', b"x"]))) == [b'{"a": 1}', b'#! frame "x"']


def test_a_reply_is_one_line_whatever_its_answer() -> None:
    replied = Replied(QuestionReply("q1", Raw(b'{\r\n"a":1}')), "u1")

    assert list(encode(replied)) == [
        b'#! replied {"questionId":"q1","answer":{  "a":1},"userId":"u1"}'
    ]


@pytest.mark.parametrize(
    "line", [b"#! replied {", b"#! replied {}", b'#! replied {"questionId":"\xff"}']
)
def test_a_reply_that_cannot_be_read_is_refused(line: bytes) -> None:
    with pytest.raises(BadRecordingError, match="a reply cannot be read"):
        decode(line)


@pytest.mark.parametrize(
    "line", [b"#! explode", b"#! held", b"#! held many", b"#! tick 5", b"#! frames x", b"#!"]
)
def test_other_words_are_no_input(line: bytes) -> None:
    with pytest.raises(BadRecordingError, match="unknown line"):
        decode(line)


def test_the_frames_of_golden_recordings_are_read_and_written() -> None:
    lines = [line.strip() for path in RECORDINGS for line in path.read_bytes().splitlines()]
    frames = [line for line in lines if line.startswith(b"{")]

    assert len(frames) > 100
    assert [written for line in frames for written in encode(decode(line))] == frames
