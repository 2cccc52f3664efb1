"""The history operation: what a session tells again when it is loaded."""

import math
from collections.abc import Iterator, Sequence

import msgspec

from turnwire.core.connect import ConnectRequest
from turnwire.core.operations import History
from turnwire.core.rejection import Rejection
from turnwire.core.requests import HistoryRequest
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import commands, frames
from turnwire.dialects.acp.frames import Message, TornMessage, decoder
from turnwire.dialects.acp.opening import NO_PAST, Opening
from turnwire.dialects.acp.past import Past
from turnwire.dialects.acp.turn import CENSUS_DEPTH


class HistoryOperation:
    """Loads the session of a channel, and keeps the updates that come before it is open.

    A chat without a session, or with one that is gone, has no messages. Any other failure is one:
    an app that took it for an empty chat would show none of the messages that there are.
    """

    def __init__(self, request: HistoryRequest) -> None:
        self.frame_stats = FrameStats()
        self.deadline = math.inf
        self._request = request
        session = request.agent_session.known
        self.result: History | Rejection | None = History([]) if session is None else None
        self._opening = Opening(session, request.options.cwd, reads_past=True)
        self._past = Past(request.limit, request.before, self.frame_stats)

    def connect_request(self) -> ConnectRequest:
        return commands.CONNECT

    def connection_opened(self, now: float) -> Sequence[bytes]:
        if self.result is not None:
            return ()
        self.deadline = now + self._request.init_s + self._request.verdict_s
        return self._opening.begin()

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return census(raw, CENSUS_DEPTH)

    def receive_frame(self, raw: bytes, now: float) -> Sequence[bytes]:
        message = decoder.read(raw, self.frame_stats)
        if message is None:
            return ()
        try:
            if message.method == frames.UPDATE:
                self._take_update(message, len(raw), now)
                return ()
            if message.method is not None:
                return [commands.refused(message.id)] if message.has_id else ()
            to_send = self._opening.take(message)
        except (msgspec.DecodeError, RecursionError):
            frames.count_rejected(raw, message, self.frame_stats)
            return ()
        if self._opening.error is not None:
            self.result = self._failed(self._opening.error)
        elif self._opening.is_open:
            is_cut = self._request.is_answer_under_way
            self.result = History(self._past.entries(without_last_turn=is_cut))
        return to_send

    def tick(self, now: float) -> Sequence[bytes]:
        if now >= self.deadline:
            self.result = Rejection.SILENT
        return ()

    def connection_lost(self) -> None:
        self.result = self.result or Rejection.SILENT

    def _failed(self, error: str) -> History | Rejection:
        if self._opening.is_gone:
            return History([])
        return Rejection.UNSUPPORTED if error == NO_PAST else Rejection.SILENT

    def _take_update(self, message: Message, size: int, now: float) -> None:
        params = frames.update_params(message.params)
        if params.session_id == self._opening.session_id and self._opening.is_telling_past:
            # A long past may take its time.
            self.deadline = max(self.deadline, now + self._request.verdict_s)
            text = message.text if isinstance(message, TornMessage) else None
            self._past.add(params.update, text, size)
