"""What the progress of a turn on the `openai-responses` wire makes of events."""

import json
from typing import Any

from msgspec import Raw

from support.openai_turn import plain_event
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses.frames import Content, decode
from turnwire.dialects.openai_responses.progress import Progress


class Taken:
    """The progress of a turn that took these events."""

    def __init__(self, *frames: bytes, is_kept: bool = True) -> None:
        self.stats = FrameStats()
        self.progress = Progress("p1", self.stats, is_kept=is_kept)
        self.events: list[Any] = []
        for frame in frames:
            decoded = decode(frame)
            assert isinstance(decoded, Content)
            self.events += map(plain_event, self.progress.take(decoded, len(frame)))

    @property
    def brief(self) -> list[str]:
        return [
            fields["phase"].value if "phase" in fields else fields.get("text", kind)
            for kind, fields in self.events
        ]


def ended(told: Taken, *output: Any) -> list[str]:
    """What the list of all items adds, in short."""
    told.events = [
        plain_event(event) for event in told.progress.end_response(Raw(json.dumps(output).encode()))
    ]
    return told.brief
