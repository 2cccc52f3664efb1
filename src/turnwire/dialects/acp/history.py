"""The history operation: what a session tells again when it is loaded."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from turnwire.core.connect import ConnectRequest
from turnwire.core.events import Event, Reason, TurnFinished
from turnwire.core.operations import History, HistoryPrompt, HistoryTurn
from turnwire.core.rejection import Rejection
from turnwire.core.requests import HistoryRequest
from turnwire.core.wire import lenient
from turnwire.core.wire.census import census
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.acp import commands, frames
from turnwire.dialects.acp.frames import UserChunk, decoder
from turnwire.dialects.acp.opening import NO_PAST, Opening
from turnwire.dialects.acp.progress import Progress
from turnwire.dialects.acp.turn import CENSUS_DEPTH

ENTRIES_MAX: Final = 10_000
"""Most prompts and turns that are kept while they are told. Of more, the oldest are forgotten."""


class HistoryOperation:
    """Loads the session of a channel, and keeps the updates that come before it is open."""

    def __init__(self, request: HistoryRequest) -> None:
        self.frame_stats = FrameStats()
        self.deadline = math.inf
        self.result: History | Rejection | None = None
        self._request = request
        session = request.agent_session.known
        self._opening = Opening(session, request.options.cwd, reads_past=True)
        self._prompts: dict[int, list[str]] = {}
        self._turns: dict[int, list[Event]] = {}
        self._count = 0
        self._is_prompt = False
        self._progress = Progress(self.frame_stats)

    def connect_request(self) -> ConnectRequest:
        return commands.CONNECT

    def connection_opened(self, now: float) -> Sequence[bytes]:
        if self._opening.session_id is None:
            self.result = History([])
            return ()
        self.deadline = now + self._request.init_s + self._request.verdict_s
        return self._opening.begin()

    def prepare_frame(self, raw: bytes) -> Iterator[None]:
        return census(raw, CENSUS_DEPTH)

    def receive_frame(self, raw: bytes, _now: float) -> Sequence[bytes]:
        message = decoder.read(raw, self.frame_stats)
        if message is None:
            return ()
        try:
            if message.method == frames.UPDATE:
                self._take_update(frames.update_params(message.params))
                return ()
            if message.method is not None:
                return [] if not message.has_id else [commands.refused(message.id)]
            to_send = self._opening.take(message)
        except (msgspec.DecodeError, RecursionError):
            self.frame_stats.count_malformed(raw)
            return ()
        if self._opening.error is not None:
            can_load = self._opening.error != NO_PAST
            self.result = History([]) if can_load else Rejection.UNSUPPORTED
        elif self._opening.is_open:
            self.result = History(self._entries())
        return to_send

    def tick(self, now: float) -> Sequence[bytes]:
        if now >= self.deadline:
            self.result = Rejection.SILENT
        return ()

    def connection_lost(self) -> None:
        self.result = self.result or Rejection.SILENT

    def _take_update(self, params: frames.UpdateParams) -> None:
        if params.session_id != self._opening.session_id or not self._opening.is_telling_past:
            return
        if isinstance(params.update, UserChunk):
            block = lenient.field(frames.block, params.update.content)
            self._entry(is_prompt=True)
            self._prompts.setdefault(self._count, []).append((block and block.text) or "")
            return
        new = self._progress.take(params.update)
        if new:
            self._entry(is_prompt=False)
            self._turns.setdefault(self._count, []).extend(new)

    def _entry(self, *, is_prompt: bool) -> None:
        """Begin another entry, if who speaks is another one than before."""
        if self._count and self._is_prompt == is_prompt:
            return
        self._is_prompt = is_prompt
        self._count += 1
        if not is_prompt:
            self._progress = Progress(self.frame_stats)
        for entries in (self._prompts, self._turns):
            entries.pop(self._count - ENTRIES_MAX, None)

    def _entries(self) -> Sequence[HistoryPrompt | HistoryTurn]:
        """The entries that were asked for. Their ids are their places: the wire has none."""
        found: list[HistoryPrompt | HistoryTurn] = []
        for number in range(1, self._count + 1):
            if number in self._prompts:
                text = "".join(self._prompts[number])
                found.append(HistoryPrompt(f"prompt-{number}", text))
            elif number in self._turns:
                events = [*self._turns[number], TurnFinished(reason=Reason.END_TURN)]
                found.append(HistoryTurn(f"turn-{number}", events))
        before = self._request.before
        ids = [
            each.message_id if isinstance(each, HistoryPrompt) else each.turn_id for each in found
        ]
        end = ids.index(before) if before in ids else len(found)
        return found[max(0, end - self._request.limit) : end]
