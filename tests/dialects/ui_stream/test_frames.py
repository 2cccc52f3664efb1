"""Chunks as structs: only what is read is decoded, and half a pair survives."""

import json

import msgspec
import pytest

from support import ui_chunks as f
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ui_stream.frames import KNOWN, SKIPPED, Skipped, data_part, decode, decoder


def test_every_chunk_of_the_ai_sdk_is_known() -> None:
    """Those of `ai` 5.0.0 to 7.0.173, but for `data-*`, and two that 5.0.51 had last."""
    known = {str(kind.__struct_config__.tag) for kind in KNOWN}

    assert known == {
        *("start", "start-step", "finish-step", "finish", "abort", "error", "message-metadata"),
        *("text-start", "text-delta", "text-end"),
        *("reasoning-start", "reasoning-delta", "reasoning-end", "reasoning-file"),
        *("tool-input-start", "tool-input-delta", "tool-input-available", "tool-input-error"),
        *("tool-output-available", "tool-output-error", "tool-output-denied"),
        *("tool-approval-request", "tool-approval-response"),
        *("source-url", "source-document", "file", "custom", "reset-step", "steering-message"),
    }


@pytest.mark.parametrize("kind", SKIPPED)
def test_a_chunk_that_nobody_is_sent_is_skipped(kind: str) -> None:
    assert isinstance(decode(f.chunk(kind, anything=1)), Skipped)


def test_what_is_not_read_does_not_matter() -> None:
    noisy = json.loads(f.text("a")) | {"providerMetadata": {"x": [{}] * 1_000}}

    assert decode(json.dumps(noisy).encode()) == decode(f.text("a"))


@pytest.mark.parametrize(
    ("frame", "field"),
    [(f.text("X"), "delta"), (f.thought("X"), "delta"), (f.piece("X"), "input_text_delta")],
)
def test_half_of_a_pair_at_the_end_of_a_delta_is_kept(frame: bytes, field: str) -> None:
    read = decoder.read(frame.replace(b'"X"', rb'"a\ud83d"'), FrameStats())

    assert getattr(read, field, None) == "a\ud83d"


def test_half_of_a_pair_elsewhere_becomes_a_replacement() -> None:
    read = decoder.read(f.text_start("m").replace(b'"m"', rb'"m\ud83d"'), FrameStats())

    assert getattr(read, "id", None) == "m\ufffd"


@pytest.mark.parametrize(
    "frame", [f.chunk("text-delta", id="t1"), f.chunk("tool-input-start", toolCallId="c1")]
)
def test_a_chunk_of_a_wrong_shape_is_malformed(frame: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        decode(frame)


@pytest.mark.parametrize("frame", [f.finish(finishReason=7), f.error(["no"]), f.start(messageId=7)])
def test_a_wrong_field_hides_neither_a_beginning_nor_an_end(frame: bytes) -> None:
    assert decode(frame) is not None


def test_a_data_part_has_a_type_of_its_own() -> None:
    part = data_part(f.data("weather", {"t": 21}, id="w1", transient=True))

    assert (part.type, bytes(part.data)) == ("data-weather", b'{"t": 21}')
    assert (part.id, part.transient) == ("w1", True)
