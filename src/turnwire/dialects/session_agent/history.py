"""The history of a channel, from the `init` of R.

A and V offer the history only on an HTTP route of their own.
"""

from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice
from typing import Annotated

import msgspec
from msgspec import Raw, Struct

from turnwire.core import events, safe_json
from turnwire.core.agent import NEVER
from turnwire.core.body.attachments import Attachment
from turnwire.core.bounds import MANY, HandedOn, Word
from turnwire.core.events import Event, Reason
from turnwire.core.operations import History, HistoryPrompt, HistoryTurn
from turnwire.core.rejection import Rejection
from turnwire.core.requests import HistoryRequest
from turnwire.core.wire import lenient
from turnwire.dialects.session_agent import frames, init
from turnwire.dialects.session_agent.init import SessionState
from turnwire.dialects.session_agent.operation import Operation
from turnwire.dialects.session_agent.snapshots import SnapshotMerger, Snapshots


class _File(Struct, frozen=True, rename="camel"):
    """A file of a prompt, with its bytes in base64."""

    mime_type: Word
    data: HandedOn
    filename: HandedOn | None = None


_parts = msgspec.json.Decoder(Annotated[list[Raw], MANY]).decode
_file = msgspec.json.Decoder(_File).decode


class HistoryOperation(Operation):
    """Reads the history from `init`. Rejects A and V as unsupported."""

    def __init__(self, request: HistoryRequest) -> None:
        super().__init__(request)
        self.result: History | Rejection | None = None
        self._request = request
        self._ahead = init.Ahead(_is_shown)

    def connection_lost(self) -> None:
        self._refuse(Rejection.SILENT)

    def _init_received(
        self, frame: frames.Init, state: SessionState, _now: float
    ) -> Sequence[bytes]:
        if state.echo_on_dispatch:
            self._refuse(Rejection.UNSUPPORTED)
            return ()
        entries = [
            entry
            for entry in init.session(frame, state, self._ahead).entries
            if entry.channel == self.channel
        ]
        self.deadline = NEVER
        self.result = History(_transcript(entries, self._request))
        return ()

    def _frame_received(self, _frame: frames.Read, _now: float) -> Sequence[bytes]:
        """Ignore the frame: `init` had the whole history."""
        return ()

    def _reply_missing(self, _now: float) -> Sequence[bytes]:
        return ()

    def _refuse(self, rejection: Rejection) -> None:
        self.deadline = NEVER
        self.result = rejection


def _transcript(
    entries: Sequence[frames.Snapshot], request: HistoryRequest
) -> Iterator[HistoryPrompt | HistoryTurn]:
    """Yield the requested entries only, one at a time, since a session may be long."""
    shown: Iterator[frames.Snapshot] = filter(_is_shown, reversed(entries))
    if request.before is not None:
        shown = dropwhile(lambda entry: entry.id != request.before, shown)
        next(shown, None)
    newest_first = list(islice(shown, request.limit))
    del entries, shown
    while newest_first:  # drop each entry after it is used
        yield _history_entry(newest_first.pop())


def _is_shown(entry: frames.Snapshot) -> bool:
    if entry.role == "user":
        return True
    if init.is_turn(entry):
        return entry.is_finished
    # Forwarded from another session.
    return entry.role == "assistant" and bool(safe_json.string(entry.content))


def _history_entry(entry: frames.Snapshot) -> HistoryPrompt | HistoryTurn:
    text = safe_json.string(entry.content) or ""
    if entry.role == "user":
        return HistoryPrompt(entry.id, text, tuple(_files(entry.parts)))
    if init.is_turn(entry):
        return HistoryTurn(entry.id, _turn(entry))
    end = events.TurnFinished(reason=Reason.END_TURN)
    return HistoryTurn(entry.id, [events.TextDelta(text), end])


def _turn(entry: frames.Snapshot) -> Sequence[Event]:
    """The events of a finished turn."""
    changes = Snapshots().changes(entry)
    assert changes.finish is not None
    end = events.TurnFinished(
        reason=changes.finish, final_text=changes.text or None, error=changes.error
    )
    turn_events, _ = SnapshotMerger(accumulates=True).merge(
        entry, [*changes.tools, end], whole=True
    )
    return turn_events


def _files(raw: Raw) -> Iterator[Attachment]:
    for file in lenient.each(_file, lenient.field(_parts, raw) or ()):
        yield Attachment(file.mime_type, f"data:{file.mime_type};base64,{file.data}", file.filename)
