"""A second kind of wire, as small as one can be: the prompt is the body of the request.

The agent answers with the frames of this one turn. Closing the connection aborts it. The wire has
a stop, and neither answer nor history nor resume.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from turnwire.core.agent import NEVER, AbortScope, Decoded, Feature, KeepsNothing
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Reason, TurnFinished, TurnStarted
from turnwire.core.operations import OperationName, StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import PromptRequest, QuestionReply, StopRequest
from turnwire.core.session_group import Member
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.schema import WireSchema


class Begun(Struct, tag_field="type", tag="begun"):
    turn: str


class Text(Struct, tag_field="type", tag="text"):
    text: str


class Over(Struct, tag_field="type", tag="over"):
    pass


class Stopped(Struct, tag_field="type", tag="stopped"):
    turn: str


class _Body(Struct):
    prompt: str
    files: Sequence[str]


_read = msgspec.json.Decoder(Begun | Text | Over | Stopped).decode
OFFERED = ("posting.v2", "posting.v1")
OWN_HEADERS = {"content-type": "application/json", "x-wire": "posting"}


class PostingProtocol(KeepsNothing):
    """One prompt and its turn."""

    accepted = True
    queued = False
    deadline = NEVER
    has_other_watchers = False

    def __init__(self, request: PromptRequest) -> None:
        self.frame_stats = FrameStats()
        self.abort_scope = AbortScope.OURS
        self._request = request

    def connect_request(self) -> ConnectRequest:
        files = [each.url for each in self._request.attachments]
        self._request = self._request.without_attachments()
        return ConnectRequest(
            method="POST",
            path="/runs",
            headers=OWN_HEADERS,
            body=msgspec.json.encode(_Body(self._request.text, files)),
            offered_protocols=OFFERED,
        )

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()

    def connection_lost(self, _now: float) -> None:
        """Return None: the turn ends with its connection."""

    def reply(self, _reply: QuestionReply, _user_id: str, _now: float) -> Decoded:
        raise AssertionError

    def prepare_frame(self, _frame: bytes) -> Iterator[None]:
        yield

    def receive_frame(self, raw: bytes, _now: float) -> Decoded | str | None:
        frame: Begun | Text | Over | Stopped = _read(raw)
        match frame:
            case Begun(turn):
                return Decoded([TurnStarted(turn)])
            case Text(text):
                return text
            case Over():
                return Decoded([TurnFinished(reason=Reason.END_TURN)])
            case Stopped():
                return None

    def tick(self, _now: float) -> Decoded:
        return Decoded()

    def client_detached(self) -> None: ...

    def unwatched(self) -> None: ...

    def mark_stale(self) -> None: ...

    def abort(self) -> Sequence[bytes]:
        return ()  # the close of the connection is the abort


class PostingStop:
    """A stop is a request of its own."""

    deadline = NEVER

    def __init__(self, request: StopRequest) -> None:
        self.result: StopResult | Rejection | None = None
        self._request = request

    def connect_request(self) -> ConnectRequest:
        return ConnectRequest(method="DELETE", path=f"/runs/{self._request.turn_id}")

    def connection_opened(self, _now: float) -> Sequence[bytes]:
        return [b'{"type":"stop"}']

    def prepare_frame(self, _frame: bytes) -> Iterator[None]:
        yield

    def receive_frame(self, raw: bytes, _now: float) -> Sequence[bytes]:
        frame = _read(raw)
        if isinstance(frame, Stopped):
            self.result = StopResult(stopped=True, turn_id=frame.turn, reason="stopped")
        return ()

    def tick(self, _now: float) -> Sequence[bytes]:
        return ()

    def connection_lost(self) -> None:
        self.result = self.result or Rejection.SILENT


class Posting:
    """The dialect."""

    name = "posting"
    transport = "framed"
    operations = frozenset({OperationName.STOP})
    idle_s = 20.0
    keeps_history = True
    features = frozenset({Feature.FILES_SENT})
    names_sessions = False
    needs = frozenset[str]()
    request_fields = frozenset[str]()
    schema = WireSchema(
        frames=(Begun, Text, Over, Stopped),
        deltas=frozenset({"text"}),
        unread={},
        inside={},
        types={},
    )

    def prompt(self, request: PromptRequest, _member: Member | None = None) -> PostingProtocol:
        return PostingProtocol(request)

    def stop(self, request: StopRequest) -> PostingStop:
        return PostingStop(request)

    def _missing(self, *_: Any) -> NoReturn:
        raise AssertionError

    resume = answer = read_history = write_message = _missing
