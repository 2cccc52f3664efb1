"""The body of a response is a recording."""

import pytest

from support import ag_ui_frames as f
from turnwire.core.recording.event_stream_body import as_lines, is_body
from turnwire.core.recording.replay import replay
from turnwire.dialects.ag_ui import AgUi

FRAMES = [f.started(), f.text("Hi"), f.finished()]
BODY = b"".join(b"data: %b\n\n" % frame for frame in FRAMES)


@pytest.mark.parametrize(
    "body",
    [BODY, b"\xef\xbb\xbf" + BODY, b"\n" + BODY, b": hello\n\n" + BODY, b"event: x\n" + BODY],
)
def test_a_body_is_known_by_its_beginning(body: bytes) -> None:
    assert is_body(body)
    assert as_lines(body) == FRAMES


@pytest.mark.parametrize("data", [b"", b'{"type":"init"}\n', b"#! prompt Hi\n", b"datum: 1\n"])
def test_another_file_is_none(data: bytes) -> None:
    assert not is_body(data)


def test_it_gives_the_stream_that_its_frames_give() -> None:
    assert replay(as_lines(BODY), AgUi(), prompt_id=f.RUN) == replay(
        FRAMES, AgUi(), prompt_id=f.RUN
    )


def test_an_event_that_is_no_object_stays_one() -> None:
    assert as_lines(b"data: [DONE]\n\n") == [b'#! frame "[DONE]"']


def test_an_event_that_is_cut_is_left_out() -> None:
    assert as_lines(BODY + b"data: {") == FRAMES
