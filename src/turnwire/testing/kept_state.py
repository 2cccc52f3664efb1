"""Tests of what a protocol keeps of an agent that sends ids without end."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from turnwire.testing.base import PROMPT_ID, ScriptedAgent
from turnwire.testing.client_model import need
from turnwire.testing.scripts import SCRIPTS
from turnwire.testing.sizes import deep_size

_MARK: Final = b"-#0#"
"""Stands in a template behind the id that is another one each time."""
_LONG_TEXT: Final = "rhubarb " * 1_000
_LONG_TEXTS: Final = 8
_KEPT_MIN: Final = 10_000
"""What is less than that may be ids of what is open."""


class KeptState(ScriptedAgent):
    rounds: int = 10_000
    """How many ids of each kind the agent sends."""
    growth_max: int = 60_000
    """By how many bytes the state may grow in the second half of them: whoever keeps up to 5,000
    ids has them after the first half."""

    def test_endless_ids_are_not_kept(self) -> None:
        """Ten thousand ids of each kind: what the protocol keeps has a bound."""
        protocol = self.protocol()
        protocol.connect_request()
        protocol.connection_opened(0)
        for frame in self._opening():
            protocol.receive_frame(frame, 0)
        templates = list({_shape(each): each for each in self._templates()}.values())
        need(templates, "no frame of a script has an id")
        half = 0
        for number in range(self.rounds):
            if number == self.rounds // 2:
                half = deep_size(protocol)
            mark = b"-%d" % number
            for template in templates:
                protocol.receive_frame(template.replace(_MARK, mark), 0)
        size = deep_size(protocol)
        need(
            size - half <= self.growth_max,
            f"the protocol has {half} bytes after {self.rounds // 2} ids, and {size} after all",
        )
        need(protocol.kept_bytes <= size, f"`kept_bytes` is {protocol.kept_bytes} of {size}")

    def test_what_is_kept_is_given_back(self) -> None:
        """`forget` gives back half of what `kept_bytes` counts, or more, and none comes back."""
        script = msgspec.structs.replace(SCRIPTS["text"], texts=(_LONG_TEXT,) * _LONG_TEXTS)
        frames = list(self.frames(script, PROMPT_ID) or ())
        played = self.play().receive(frames[:-1])
        protocol, kept, size = (
            played.protocol,
            played.protocol.kept_bytes,
            deep_size(played.protocol),
        )
        protocol.forget()
        need(kept >= 0, f"`kept_bytes` is {kept}")
        if kept > _KEPT_MIN:
            left, gone = protocol.kept_bytes, size - deep_size(protocol)
            need(left <= kept // 2, f"`kept_bytes` is {left} after `forget`, and {kept} before")
            need(gone >= kept // 2, f"`forget` gives {gone} bytes back, of {kept}")

    def _opening(self) -> list[bytes]:
        """The frames with which every script begins."""
        scripts = [self.scripted(script) for script in self.scripts().values()]
        same: list[bytes] = []
        for frames in zip(*scripts, strict=False):
            if len(set(frames)) > 1:
                break
            same.append(frames[0])
        return same

    def _templates(self) -> Iterator[bytes]:
        """Each frame that ends no turn, with the mark behind one of the ids in it."""
        for script in self.scripts().values():
            frames, played = self.scripted(script), self.play()
            ids = list(dict.fromkeys(each for frame in frames for each in self._ids(frame)))
            going = []
            for frame in frames:
                played.read([frame])
                if played.turn.outcome is None:
                    going.append(frame)
            for each in ids:
                literal = msgspec.json.encode(each)
                marked = literal[:-1] + _MARK + b'"'
                yield from (f.replace(literal, marked) for f in going if literal in f)
        unknown = self.unknown_frame()
        for text in _texts(unknown):
            literal = msgspec.json.encode(text)
            yield unknown.replace(literal, literal[:-1] + _MARK + b'"')

    def _ids(self, frame: bytes) -> Iterator[str]:
        """The ids in a frame, by the names of their fields."""
        keys = self.dialect.schema.ids
        for key, value in _fields(_decoded(frame)):
            if isinstance(value, str) and value and (key in keys or _is_id(key)):
                yield value


def _shape(template: bytes) -> str:
    """What tells a template from others: its types and fields, and which of them has the mark."""
    return repr(
        [
            (key, value if key == "type" or not isinstance(value, str) else _MARK.decode() in value)
            for key, value in _fields(_decoded(template))
        ]
    )


def _is_id(key: str) -> bool:
    return key.lower() == "id" or key.endswith(("Id", "ID", "_id"))


def _decoded(frame: bytes) -> Any:
    try:
        return msgspec.json.decode(frame)
    except msgspec.DecodeError:
        return None


def _texts(frame: bytes) -> list[str]:
    return [value for _, value in _fields(_decoded(frame)) if isinstance(value, str)]


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Each field of the objects in a value."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key, inner
            yield from _fields(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from _fields(inner)
