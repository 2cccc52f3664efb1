"""Dialects with one fault each, for the suite to find: all speak the wire of the example."""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import Raw

import turnwire.dialect as td
from testing.minimal_suite import example
from turnwire.core import safe_json

Turn = example.Turn
"""The protocol of the example, which has no fault."""
FRAMES = example.FRAMES


class Raises(Turn):
    """It decodes a frame, and takes for granted that this works."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        msgspec.json.decode(frame)["type"]
        return super().receive_frame(frame, now)


class RaisesOnDisorder(Turn):
    """It knows no result but of a call that came before."""

    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request)
        self._open: set[str] = set()

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        for event in decoded.events if isinstance(decoded, td.Decoded) else ():
            if isinstance(event, td.ToolUpdate):
                (self._open.remove if event.result else self._open.add)(event.call_id)
        return decoded


class DropsFiles(Turn):
    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request.without_attachments())


class HoldsBack(Turn):
    """It keeps each delta until the next frame comes: a cut loses it."""

    _held = ""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded, held = super().receive_frame(frame, now), self._held
        if isinstance(decoded, str):
            self._held = decoded
            return held
        self._held = ""
        if decoded is None or not held:
            return decoded
        return td.Decoded([td.TextDelta(held), *decoded.events])


class TellsTwice(Turn):
    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        return decoded * 2 if isinstance(decoded, str) else decoded


class Swaps(Turn):
    """It tells the first delta behind the second one."""

    _first: str | None = None

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if not isinstance(decoded, str):
            return decoded
        if self._first is None:
            self._first = decoded
            return ""
        first, self._first = self._first, ""
        return decoded + first


class NeverEnds(Turn):
    def finished(self, *_events: Any, **_fields: Any) -> Any:
        return td.ALIVE


class ResultFirst(Turn):
    """It tells of a call when its result comes, and then the result before the call."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if not isinstance(decoded, td.Decoded) or not decoded.events:
            return decoded
        event = decoded.events[0]
        if not isinstance(event, td.ToolUpdate):
            return decoded
        if event.result is None:
            return td.ALIVE
        running = msgspec.structs.replace(event, phase=td.Phase.RUNNING, result=None)
        return td.Decoded([msgspec.structs.replace(event, args=None), running])


class KeepsEveryId(Turn):
    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request)
        self._calls: dict[str, None] = {}

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        for event in decoded.events if isinstance(decoded, td.Decoded) else ():
            if isinstance(event, td.ToolUpdate):
                self._calls[event.call_id] = None
        return decoded


class KeepsEveryType(Turn):
    """It keeps the types of the frames that it does not know."""

    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request)
        self._types: set[bytes] = set()

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if decoded is None:
            self._types.add(frame)
        return decoded


class LogsThePrompt(Turn):
    def connect_request(self) -> td.ConnectRequest:
        self.frame_stats.error_code = self._request.text
        request: td.ConnectRequest = super().connect_request()
        return request


class LogsTheText(Turn):
    """It counts a text that it could not read under that text."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if decoded is None:
            self.frame_stats.count_left_out(frame.decode(), len(frame))
        return decoded


class CountsNothing(Turn):
    """It drops what it does not know, and no operator ever learns of it."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        self.frame_stats.unrecognised.clear()
        return decoded


class EndsAtTheUnknown(Turn):
    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        return self.finished(error="unknown frame") if decoded is None else decoded


class CountsAlone(Turn):
    """It takes a long frame when it is counted, and once more when it comes."""

    _text = ""

    def prepare_frame(self, frame: bytes) -> Iterator[None]:
        decoded = super().receive_frame(frame, 0)
        self._text = decoded if isinstance(decoded, str) else ""
        yield from super().prepare_frame(frame)

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded, text = super().receive_frame(frame, now), self._text
        self._text = ""
        return text + decoded if isinstance(decoded, str) else decoded


class SendsNoPrompt(Turn):
    def connect_request(self) -> td.ConnectRequest:
        super().connect_request()
        return td.ConnectRequest(method="POST")


class Spins(Turn):
    """Its deadline stays where it is when it has passed."""

    deadline = 5.0


class GoesOn(Turn):
    """It says that the agent stops the turn, and shows what comes later."""

    def begin_stop(self, _now: float) -> td.Decoded:
        return td.ALIVE


class StopsOnce(Turn):
    """It cannot be stopped twice, though a client may leave while the agent stops."""

    _is_stopping = False

    def begin_stop(self, _now: float) -> td.Decoded:
        assert not self._is_stopping
        self._is_stopping = True
        return td.ALIVE


class CannotTick(Turn):
    deadline = 5.0

    def tick(self, _now: float) -> NoReturn:
        raise NotImplementedError


class WastesNothing(Turn):
    """It counts frames that are no JSON as if a newer agent had sent them."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        self.frame_stats.wasted = 0
        return decoded


class GoesByTheText(Turn):
    """It goes by a word of a text, and its schema does not keep the word."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if not isinstance(decoded, str) or "kingfisher" not in decoded:
            return decoded
        return td.Decoded([td.TextDelta(decoded), td.SourceUrl("s1", "https://a.example/")])


class CannotAbort(Turn):
    def abort(self) -> NoReturn:
        raise NotImplementedError


class CannotLose(Turn):
    def connection_lost(self, _now: float) -> NoReturn:
        raise ConnectionError


class SendsText(Turn):
    """It aborts a turn by a text in place of bytes."""

    def abort(self) -> Sequence[Any]:
        return ["stop"]


class TellsNoText(Turn):
    """The detail of its status is a number, which a turn log cannot read again."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if not isinstance(decoded, str):
            return decoded
        detail: Any = 5
        return td.Decoded([td.AgentStatus("writing", detail), td.TextDelta(decoded)])


class HandsOnGarbage(Turn):
    """The input of its calls is no JSON."""

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if not isinstance(decoded, td.Decoded) or not decoded.events:
            return decoded
        event = decoded.events[0]
        if not isinstance(event, td.ToolUpdate):
            return decoded
        return td.Decoded([msgspec.structs.replace(event, args=Raw(b'{"a":'))])


class Strict(example.Say, tag="say", forbid_unknown_fields=True):
    """A frame that may have no new field."""


STRICT: td.FrameDecoder[Any] = td.frame_decoder(Strict, example.Tool, example.Done)


class ForbidsFields(Turn):
    def receive_frame(self, frame: bytes, now: float) -> Any:
        match STRICT.read(frame, self.frame_stats):
            case None:
                return None
            case _:
                return super().receive_frame(frame, now)


class CannotForget(Turn):
    def forget(self) -> NoReturn:
        raise NotImplementedError


class CannotBeStale(Turn):
    def mark_stale(self) -> NoReturn:
        raise NotImplementedError


class CannotReply(Turn):
    def reply(self, _reply: td.QuestionReply, _user_id: str, _now: float) -> NoReturn:
        raise NotImplementedError


class Keeps(Turn):
    """It keeps the texts, and gives none back."""

    kept_bytes = 0

    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(request)
        self._texts: list[str] = []

    def receive_frame(self, frame: bytes, now: float) -> Any:
        decoded = super().receive_frame(frame, now)
        if isinstance(decoded, str):
            self._texts.append(decoded)
            self.kept_bytes += len(decoded)
        return decoded


class SaysThatItForgets(Keeps):
    """It counts nothing any more, and keeps all."""

    def forget(self) -> None:
        self.kept_bytes = 0


def type_of_known(frame: bytes) -> str:
    """The type of a frame. It takes for granted that it is one of the example's."""
    kind = safe_json.frame_type(frame)
    return {str(known.__struct_config__.tag): kind for known in FRAMES}[kind]


def faulty(protocol: Any, **members: Any) -> Any:
    """Return the dialect of the example with another protocol, and with these members."""

    class Faulty(example.Minimal):
        def prompt(self, request: td.PromptRequest, _member: td.Member | None = None) -> Any:
            return protocol(request)

    dialect = Faulty()
    for name, member in members.items():
        setattr(dialect, name, member)
    return dialect
