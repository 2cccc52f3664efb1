"""Events as structs: only what is read is decoded, and half a pair survives."""

import json

import msgspec
import pytest

from support import ag_ui_frames as f
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ag_ui.frames import KNOWN, SKIPPED, Skipped, decode, decoder


def test_every_type_of_the_protocol_is_known() -> None:
    known = {str(kind.__struct_config__.tag) for kind in KNOWN}

    assert len(known) == 36  # 31 of version 1.0, and five that it retired
    assert set(SKIPPED) <= known
    assert all(kind.isupper() for kind in known)


@pytest.mark.parametrize("kind", SKIPPED)
def test_a_span_is_skipped(kind: str) -> None:
    assert isinstance(decode(f.event(kind, messageId="r1")), Skipped)


def test_nothing_is_built_of_what_is_not_read() -> None:
    """A copy of the framework's event may be most of the bytes."""
    noisy = json.loads(f.text("a")) | {"rawEvent": {"x": [{}] * 1_000}, "timestamp": 1.5}

    assert decode(json.dumps(noisy).encode()) == decode(f.text("a"))


@pytest.mark.parametrize(
    "frame",
    [
        f.text(""),
        f.thought(""),
        f.args(""),
        f.event("THINKING_TEXT_MESSAGE_CONTENT", delta=""),
        f.text_chunk(messageId="m", delta=""),
        f.call_chunk(toolCallId="c", delta=""),
        f.event("REASONING_MESSAGE_CHUNK", messageId="m", delta=""),
    ],
)
def test_half_of_a_pair_at_the_end_of_a_delta_is_kept(frame: bytes) -> None:
    halved = frame.replace(b'"delta": ""', rb'"delta": "a\ud83d"')

    read = decoder.read(halved, FrameStats())

    assert read is not None
    assert getattr(read, "delta", None) == "a\ud83d"


def test_half_of_a_pair_elsewhere_becomes_a_replacement() -> None:
    read = decoder.read(f.text_start("m").replace(b'"m"', rb'"m\ud83d"'), FrameStats())

    assert getattr(read, "message_id", None) == "m\ufffd"


@pytest.mark.parametrize(
    "frame",
    [
        f.event("STEP_STARTED", stepName=7),
        f.text_start("m1", role=7),
        f.event("TOOL_CALL_START", toolCallId="c1"),
    ],
)
def test_an_event_of_a_wrong_shape_is_malformed(frame: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(frame)


@pytest.mark.parametrize("frame", [f.finished("r"), f.failed("no", code=7)])
def test_a_wrong_field_does_not_hide_an_end(frame: bytes) -> None:
    odd = frame.replace(b'"r"', b"[7]").replace(b'"no"', b"{}")

    assert decode(odd) is not None
