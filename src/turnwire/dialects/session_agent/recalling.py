"""The history of a channel, from R's `init`. A and V have it behind a route of their own alone."""

from collections.abc import Iterator, Sequence
from itertools import dropwhile, islice
from typing import Annotated

import msgspec
from msgspec import Raw, Struct

from turnwire.core import events, harmless
from turnwire.core.attachments import Attachment
from turnwire.core.bounds import MANY, HandedOn, Word
from turnwire.core.dialect import NEVER
from turnwire.core.errand import Asked, Recall, Told, Transcript
from turnwire.core.events import Event, Reason
from turnwire.core.refusal import Refusal
from turnwire.dialects.session_agent import hydration, wire
from turnwire.dialects.session_agent.errands import Errand
from turnwire.dialects.session_agent.hello import Hello
from turnwire.dialects.session_agent.retelling import Retelling
from turnwire.dialects.session_agent.snapshot import Snapshots


class _File(Struct, frozen=True, rename="camel"):
    """A file of a prompt: its bytes in base64."""

    mime_type: Word
    data: HandedOn
    filename: HandedOn | None = None


_parts = msgspec.json.Decoder(Annotated[list[Raw], MANY]).decode
_file = msgspec.json.Decoder(_File).decode


class Recalling(Errand):
    """Reads the history off `init`."""

    def __init__(self, recall: Recall) -> None:
        super().__init__(recall)
        self.result: Transcript | Refusal | None = None
        self._recall = recall
        self._ahead = hydration.Ahead(_is_told)

    def left(self) -> None:
        self._refuse(Refusal.SILENT)

    def _greeted(self, init: wire.Init, said: Hello, _now: float) -> Sequence[bytes]:
        if said.defers:
            self._refuse(Refusal.UNSUPPORTED)
            return ()
        entries = [
            e
            for e in hydration.session(init, said, self._ahead).entries
            if e.channel == self.channel
        ]
        self.deadline = NEVER
        self.result = Transcript(_transcript(entries, self._recall))
        return ()

    def _heard(self, _heard: wire.Read, _now: float) -> Sequence[bytes]:
        """`init` said it all."""
        return ()

    def _late(self, _now: float) -> Sequence[bytes]:
        return ()

    def _refuse(self, why: Refusal) -> None:
        self.deadline = NEVER
        self.result = why


def _transcript(entries: Sequence[wire.Snapshot], recall: Recall) -> Iterator[Asked | Told]:
    """What is asked for alone is told, an entry at a time: a session may be long."""
    told: Iterator[wire.Snapshot] = filter(_is_told, reversed(entries))
    if recall.before is not None:
        told = dropwhile(lambda entry: entry.id != recall.before, told)
        next(told, None)
    newest_first = list(islice(told, recall.limit))
    del entries, told
    while newest_first:  # and what was told is kept no longer
        yield _said(newest_first.pop())


def _is_told(entry: wire.Snapshot) -> bool:
    if entry.role == "user":
        return True
    if hydration.is_turn(entry):
        return entry.is_finished
    # Forwarded from another session.
    return entry.role == "assistant" and bool(harmless.string(entry.content))


def _said(entry: wire.Snapshot) -> Asked | Told:
    text = harmless.string(entry.content) or ""
    if entry.role == "user":
        return Asked(entry.id, text, tuple(_files(entry.parts)))
    if hydration.is_turn(entry):
        return Told(entry.id, _turn(entry))
    end = events.TurnFinished(reason=Reason.END_TURN)
    return Told(entry.id, [events.TextDelta(text), end])


def _turn(entry: wire.Snapshot) -> Sequence[Event]:
    """What a turn told that is over."""
    news = Snapshots().news(entry)
    assert news.finish is not None
    end = events.TurnFinished(reason=news.finish, final_text=news.text or None, error=news.error)
    told, _ = Retelling(accumulates=True).weave(entry, [*news.tools, end], whole=True)
    return told


def _files(raw: Raw) -> Iterator[Attachment]:
    try:
        parts = _parts(raw)
    except msgspec.DecodeError:
        return
    for part in parts:
        try:
            file = _file(part)
        except msgspec.DecodeError:
            continue
        yield Attachment(file.mime_type, f"data:{file.mime_type};base64,{file.data}", file.filename)
