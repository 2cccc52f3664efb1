"""A turn once more from its beginning, for one socket that asked for it again."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Spelling
from turnwire_lab.agents.v2.history import Entry
from turnwire_lab.agents.v2.parts import (
    UNANSWERED,
    Called,
    Ended,
    Failed,
    File,
    Part,
    Question,
    Retracted,
    Source,
    StepBegan,
    TextBlock,
)


def repeated(entry: Entry, spellings: Sequence[Spelling], ids: Json) -> Iterator[Json]:
    """As far as it got: what comes after goes to all sockets. `ids` is the `promptId`, if any."""
    turn = {"turnId": entry.id}
    yield {"type": "message.create", **entry.origin, **turn, **ids}
    for part in entry.parts:
        yield from _frames(part, entry, spellings)
    if entry.parts and isinstance(entry.parts[-1], Ended):
        yield {"type": "complete", **turn, **ids}


def _frames(part: Part, entry: Entry, spellings: Sequence[Spelling]) -> Iterator[Json]:
    turn = {"turnId": entry.id}
    match part:
        case TextBlock(kind="reasoning", text=text):
            yield {"type": "message.part.reasoning-delta", **turn, "delta": text}
        case TextBlock(text=text):
            if "chunk" in spellings:
                yield {"type": "chunk", "content": text, "messageId": entry.id}
            if "text-delta" in spellings:
                yield {"type": "message.part.text-delta", **turn, "delta": text}
        case Called():
            delta = {"argsDelta": part.input_text} if part.args is None and part.input_text else {}
            yield {"type": "message.part.tool-update", **turn, **part.fields(), **delta}
        case Question():
            yield {"type": "question", **part.fields()}
            closed = {"questionId": part.id, **turn}
            if part.expired:
                yield {"type": "question.expired", **closed}
            elif part.answer is not UNANSWERED:
                yield {"type": "question.resolved", **closed, "answer": part.answer}
        case File():
            yield {"type": "message.part.file", **turn, **part.fields()}
        case Source():
            yield {"type": "message.part.source", **turn, **part.fields()}
        case StepBegan():
            yield {"type": "message.part.step", **turn}
        case Retracted(since=since):
            yield {"type": "message.part.retract", **turn, "since": since}
        case Failed():
            pass  # the end says why, too
        case Ended(reason=reason):
            final = {"finalText": entry.text} if entry.text else {}
            yield {"type": "message.finalize", **turn, "reason": reason, **final}
        case _:
            assert_never(part)
