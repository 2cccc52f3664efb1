"""A dialect: one turn over several connections. The agent counts its frames, and repeats them."""

import msgspec
from msgspec import Struct

import turnwire.dialect as td

WAIT_S = 1.0  # between the loss of a connection, or a dial that failed, and the next dial
LOST_MAX = 5  # connections that are lost without a new frame in between


class Say(Struct, tag="say"):
    n: int
    text: td.HandedOn


class Done(Struct, tag="done"):
    n: int


FRAMES = (Say, Done)
DECODER: td.FrameDecoder[Say | Done] = td.frame_decoder(*FRAMES)


class Turn(td.OneResponse):
    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(turn_id=request.prompt_id)
        self._request = request
        self._seen = self._lost = 0

    def connect_request(self) -> td.ConnectRequest:
        return td.ConnectRequest()

    def connection_opened(self, now: float) -> td.Decoded:
        prompt = {"type": "prompt", "id": self._request.prompt_id, "text": self._request.text}
        since = {"type": "since", "id": self._request.prompt_id, "n": self._seen}
        self.abort_scope = td.AbortScope.OURS
        if self._seen:
            return td.Decoded(to_agent=[msgspec.json.encode(since)])
        return td.Decoded(super().connection_opened(now).events, [msgspec.json.encode(prompt)])

    def connection_lost(self, now: float) -> td.Decoded | None:
        self._lost += 1
        if not self._seen or self._lost > LOST_MAX:
            return None  # the turn is interrupted
        self.deadline = now + WAIT_S
        self.abort_scope = td.AbortScope.SHARED  # an abort has to wait for the next connection
        return td.ALIVE

    def dial_failed(self, now: float) -> td.Decoded | None:
        return self.connection_lost(now)

    def tick(self, now: float) -> td.Decoded:
        if now < self.deadline:
            return td.ALIVE
        self.deadline = td.NEVER
        return td.Decoded(connect=self.connect_request())

    def receive_frame(self, frame: bytes, _now: float) -> td.Decoded | str | None:
        read = DECODER.read(frame, self.frame_stats)
        if read is None or read.n <= self._seen:  # unreadable, or told again
            return None if read is None else ""
        self._seen, self._lost = read.n, 0
        return read.text if isinstance(read, Say) else self.finished()

    def abort(self) -> list[bytes]:
        return [b'{"type":"abort"}'] if self.abort_scope is td.AbortScope.OURS else []


class SeveralConnections(td.PromptsOnly):
    name, surface, transport = "several-connections", "1", "websocket"
    schema = td.WireSchema(frames=FRAMES, deltas=frozenset({"say"}), kept=frozenset({"n"}))

    def prompt(self, request: td.PromptRequest, _member: td.Member | None = None) -> Turn:
        return Turn(request)
