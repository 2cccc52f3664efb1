"""Tests of a wire that has grown: frame types and fields that the dialect does not know."""

import itertools
from typing import Final

import msgspec

from turnwire.core.recording.drift import Drift
from turnwire.core.recording.redact import redactor_of
from turnwire.testing.base import ScriptedAgent, about
from turnwire.testing.client_model import Client, need
from turnwire.testing.damage import GARBAGE
from turnwire.testing.scripts import Script

_FIELD: Final = "turnwireUnknown"
_OTHER_SHAPES: Final = (
    *(b"[]", b"[[]]", b"[{}]", b'[1,"turnwire.unknown",{}]', b'["turnwire.unknown",7]'),
    *(b"true", b"1.5", b'{"turnwire":[{"unknown":null}]}', b'{"type":"turnwire.unknown"}'),
)
_FRAMES_MAX: Final = 100
_SHOWN_BYTES: Final = 200
_DEPTHS: Final = 3
"""How deep a wire may have the objects whose fields it decodes: some wrap their frames."""


class WireChanges(ScriptedAgent):
    def test_its_schema_knows_each_frame(self, script: Script) -> None:
        """The drift monitor reports no frame of the scripts."""
        findings = Drift(self.dialect.schema).inspect(self.scripted(script))
        found = [(each.kind, each.type, each.fields) for each in findings]
        need(not found, f"unknown: {found}")

    def test_an_unknown_frame_is_counted(self, script: Script) -> None:
        """A frame of a new type changes nothing, is counted, and is reported as drift."""
        frames, unknown = self.scripted(script), self.unknown_frame()
        plain = self.play().receive(frames)
        for place in range(len(frames)):
            with about(f"It came after {place} frames"):
                played = self.play().receive(frames[:place])
                if played.turn.outcome is not None:
                    break
                played.receive([unknown, *frames[place:]])
                need(played.client.parts == plain.client.parts, "the message is another one")
                need(played.turn.outcome is plain.turn.outcome, "the turn ends in another way")
                stats = played.protocol.frame_stats
                need(sum(stats.unrecognised.values()), "`frame_stats.unrecognised` counts nothing")
        kinds = [each.kind for each in Drift(self.dialect.schema).inspect([unknown])]
        need(kinds == ["type"], "the drift monitor does not find it")

    def test_an_unknown_field_is_found(self, script: Script) -> None:
        """A frame with a new field is read as without it, and reported as drift."""
        frames = self.scripted(script)
        plain = self.play().receive(frames)
        for depth in range(_DEPTHS):
            grown = [_with_field(frame, depth) for frame in frames]
            played = self.play().receive(grown)
            need(_shown(played.client) == _shown(plain.client), "the message is another one")
            need(played.turn.outcome is plain.turn.outcome, "the turn ends in another way")
            findings = Drift(self.dialect.schema).inspect(grown)
            if any(_FIELD in field for each in findings for field in each.fields):
                return
        are_checked = any(kind.__struct_fields__ for kind in self.dialect.schema.frames)
        need(not are_checked, "the drift monitor does not find it")

    def test_monitors_take_any_frame(self) -> None:
        """The drift monitor and the redaction raise at no frame, whatever JSON it is."""
        frames = (frame for script in self.scripts().values() for frame in self.scripted(script))
        some = [self.unknown_frame(), *itertools.islice(frames, _FRAMES_MAX)]
        halves = [frame[: len(frame) // 2].decode(errors="ignore").encode() for frame in some]
        for frame in (*some, *halves, *GARBAGE, *_OTHER_SHAPES):
            with about(f"The frame: {frame[:_SHOWN_BYTES]!r}"):
                Drift(self.dialect.schema).inspect([frame])
                redactor_of(self.dialect.schema).frame(frame)


def _with_field(frame: bytes, depth: int) -> bytes:
    """A frame whose objects at this depth have one field more. Of others, the frame as it is."""
    try:
        value = msgspec.json.decode(frame)
    except msgspec.DecodeError:
        return frame
    level = value if isinstance(value, list) else [value]
    for _ in range(depth):
        level = [inner for each in level if isinstance(each, dict) for inner in each.values()]
    for each in level:
        if isinstance(each, dict):
            each[_FIELD] = 1
    return msgspec.json.encode(value)


def _shown(client: Client) -> tuple[object, ...]:
    """What a client shows, but for questions: those are handed on with all of their fields."""
    return client.streamed_text, client.reasonings, client.tools, client.questions
