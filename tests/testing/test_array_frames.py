"""A wire whose frames are arrays passes the suite: `[7, "say", {"text": "Hi"}]`."""

import json
from collections.abc import Sequence
from typing import Any

import turnwire.dialect as td
from testing.minimal_suite import MinimalSuite, example
from turnwire.testing import Script


def split(frame: Any) -> tuple[Any, Any]:
    return frame[1], frame[2]


DECODER: td.FrameDecoder[Any] = td.frame_decoder(*example.FRAMES, split=split)


class Turn(example.Turn):
    def receive_frame(self, frame: bytes, now: float) -> Any:
        read = DECODER.read(frame, self.frame_stats)
        if isinstance(read, example.Say):
            return read.text
        return None if read is None else super().receive_frame(object_of(frame), now)


def object_of(frame: bytes) -> bytes:
    """The frame as the example has it."""
    _, kind, body = json.loads(frame)
    return json.dumps({"type": kind, **body}).encode()


class Arrays(example.Minimal):
    name = "arrays"
    schema = td.WireSchema(frames=example.FRAMES, deltas=frozenset({"say"}), split=split)

    def prompt(self, request: td.PromptRequest, _member: td.Member | None = None) -> Turn:
        return Turn(request)


class TestArrays(MinimalSuite):
    dialect = Arrays()

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        objects = super().frames(script, prompt_id)
        return objects and [array(number, frame) for number, frame in enumerate(objects)]

    def unknown_frame(self) -> bytes:
        return b'[9,"turnwire.unknown",{"text":"thistle"}]'


def array(number: int, frame: bytes) -> bytes:
    body = json.loads(frame)
    return json.dumps([number, body.pop("type"), body]).encode()
