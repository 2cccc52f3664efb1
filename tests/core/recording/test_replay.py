import json
import re

import pytest

from support import v2_frames as f
from turnwire.core.recording.input_lines import BadRecordingError
from turnwire.core.recording.recorder import Recording, header
from turnwire.core.recording.replay import replay
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Frames, Opened
from turnwire.core.turn.limits import Limits
from turnwire.dialects import DIALECTS

V2 = DIALECTS["v2"]


@pytest.mark.parametrize(
    ("recording", "says"),
    [
        ([f.begin(), b"#! close", f.part("late")], "Stream interrupted"),
        ([f.begin()], "Stream interrupted"),
        ([f.begin(), b"#! after 500"], "Agent stopped responding"),
        ([f.begin(), b"#! after inf"], "Agent stopped responding"),
        ([f.begin(), b"#! drain", b"#! after 31"], "Gateway restarting"),
        ([f.begin(), b"-- after 500", f.finalize()], ""),
        ([f.begin(), b"", b"# a note, caf\xe9", f.part("a"), f.finalize()], ""),
    ],
)
def test_what_happens_is_replayed(recording: list[bytes], says: str) -> None:
    stream = replay(recording, V2)

    assert stream.endswith(b"data: [DONE]\n\n")
    assert re.findall(rb'"errorText":"([^"]*)"', stream) == ([says.encode()] if says else [])
    assert b"late" not in stream


def test_another_prompt_id_and_plain_records_can_be_asked_for() -> None:
    recording = [f.begin(prompt="mine"), f.finalize(usage={})]

    stream = replay(recording, V2, prompt_id="mine", event_lines=False, usage=True)

    assert b"event:" not in stream
    assert b'"messageMetadata":{"usage":{}}' in stream


@pytest.mark.parametrize("line", [b"#! explode", b"#! after", b"#!", b"#! prompt"])
def test_a_line_that_nobody_knows_is_refused(line: bytes) -> None:
    with pytest.raises(BadRecordingError, match="unknown line"):
        replay([line], V2)


def test_a_frame_that_is_not_utf8_is_refused_as_the_websocket_refuses_it() -> None:
    with pytest.raises(BadRecordingError, match="not UTF-8"):
        replay([b'{"type":"\xff"}'], V2)


@pytest.mark.parametrize("line", [b"#! frame {", b'#! frame "\xff"', b"#! frame 1"])
def test_an_odd_frame_is_a_json_string(line: bytes) -> None:
    with pytest.raises(BadRecordingError, match="no JSON string"):
        replay([line], V2)


def test_a_recording_says_what_was_asked_where_the_agent_echoes_no_more_than_that() -> None:
    echo = {"id": "P", "role": "user", "content": "Hi  there", "authorId": "u1"}
    recording = [
        b"#! prompt Hi  there",
        b'{"type":"init","data":{}}',
        b'{"type":"message","data":%b}' % json.dumps(echo).encode(),
        b'{"type":"message","data":{"id":"T","role":"assistant","content":"","parts":[]}}',
    ]

    assert b'"messageId":"T"' in replay(recording, DIALECTS["session-agent"])
    assert b'"messageId":"T"' not in replay(recording[1:], DIALECTS["session-agent"])
    of_files_alone = [line.replace(b"Hi  there", b"") for line in recording[1:]]
    assert b'"messageId":"T"' in replay(of_files_alone, DIALECTS["session-agent"])


@pytest.mark.parametrize("apart", [False, True])
def test_a_recording_says_whether_other_processes_had_streams_of_the_session(
    *, apart: bool
) -> None:
    asked = PromptRequest(text="Hi", prompt_id="p1", user_id="u1")
    recording = Recording(header(asked, dialect="v2", limits=Limits(), apart=apart), 9_999)
    recording.on_input(Opened(), 0)
    recording.on_input(Frames([f.create(), f.part("a"), f.finalize()]), 1)

    stream = replay(recording.lines(redactor=None), V2)

    assert (b'"delta":"a"' in stream) is not apart
