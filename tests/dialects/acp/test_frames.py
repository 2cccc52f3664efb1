"""Messages as structs: only what is read is decoded."""

import json

import msgspec
import pytest

from support import acp_messages as f
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import frames


def test_the_three_kinds_of_messages() -> None:
    answer, asked, notice = map(frames.decode, (f.done(), f.permission(), f.text("a")))

    assert (answer.method, answer.id) == (None, f.PROMPT)
    assert (asked.method, asked.id) == (frames.PERMISSION, 0)
    assert (notice.method, notice.id) == (frames.UPDATE, None)


def test_nothing_is_built_of_what_is_not_read() -> None:
    noisy = json.loads(f.text("a"))
    noisy["params"]["update"]["_meta"] = {"x": [{}] * 1_000}

    read = frames.update_params(frames.decode(json.dumps(noisy).encode()).params)
    assert read == frames.update_params(frames.decode(f.text("a")).params)


@pytest.mark.parametrize("frame", [f.message(method=7), f.message(id=[])])
def test_a_message_of_a_wrong_shape(frame: bytes) -> None:
    stats = FrameStats()

    assert frames.decoder.read(frame, stats) is None
    assert stats.malformed == 1


def test_a_message_that_is_no_strict_json_is_read() -> None:
    read = frames.decoder.read(f.text("X").replace(b"X", rb"a\ud83d"), FrameStats())

    assert read is not None
    assert b"a\xef\xbf\xbd" in bytes(read.params)


def test_an_update_of_an_unknown_kind_is_malformed() -> None:
    with pytest.raises(msgspec.ValidationError):
        frames.update_params(frames.decode(f.update("new_update")).params)
