"""A journal with one session in it: a tool was allowed by a person, and ran."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Raw

from turnwire_agent.host.commands import AbortCommand, command
from turnwire_agent.journal.port import Row
from turnwire_agent.journal.sqlite.journal import SqliteJournal
from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.transcript import Assistant, Call, Text
from turnwire_agent.session import deltas as streamed
from turnwire_agent.session import events as of
from turnwire_agent.session.codec import row_of

SECRET: Final = "canary-password"
WRITTEN: Final = '{"order":"o7","password":"canary-password"}'
INPUT: Final = Raw(WRITTEN.encode())
AT: Final = 1_795_647_600.0
"""2026-11-25T23:00:00Z."""
TURN: Final[Sequence[of.Event]] = (
    of.Prompted(entry_id="e1", prompt_id="p1", user_id="ann", content="Cancel\no7", at=AT),
    of.TurnBegun(turn_id="t1", entry_id="e1", at=AT),
    of.StepBegun(turn_id="t1", step=0, model="tiny", at=AT),
    of.Streamed(
        "t1",
        (
            streamed.StatusChanged("thinking"),
            streamed.ReasoningAdded("Hm."),
            streamed.TextAdded("I have "),
            streamed.TextAdded("to ask.\x1b[2J"),
            streamed.InputAdded("c1", "cancel", WRITTEN),
            streamed.SourceAdded("s1", "https://a.example"),
        ),
    ),
    of.AttemptLost(turn_id="t1", step=0, attempt=0, since=0, why="truncated"),
    of.StepEnded(
        turn_id="t1",
        step=0,
        message=Assistant((Text("I have to ask."), Call("c1", "cancel", WRITTEN))),
        finish_reason="tool-calls",
        usage=Usage(input=10, output=2),
    ),
    of.QuestionAsked(
        turn_id="t1", question_id="q1", text="May it?", call_id="c1", tool="cancel", input=INPUT
    ),
    of.TurnParked("t1"),
    of.QuestionClosed(turn_id="t1", question_id="q1", answer=Raw(b"true"), user_id="ann"),
    of.CallBegun(turn_id="t1", call_id="c1", tool="cancel", key="k", effect="once", input=INPUT),
    of.TurnTakenOver(turn_id="t1", at=AT),
    of.CallEnded(
        turn_id="t1", call_id="c1", tool="cancel", outcome="done", content=(Text("It is done."),)
    ),
    of.QuestionAsked(turn_id="t1", question_id="q2", text="Tea?"),
    of.QuestionClosed(turn_id="t1", question_id="q2"),
    of.Compacted(turn_id="t1", transcript=()),
    of.TurnEnded(turn_id="t1", reason="end_turn", at=AT),
    of.PromptRepeated("e1", "p2"),
    of.PromptTakenBack("e9"),
)


async def keep(path: Path, events: Sequence[of.Event] = TURN, *others: Row) -> None:
    """Write a session `s1`, with a command that nobody has taken, and a session `s2`."""
    journal = SqliteJournal(path, synchronous="normal")
    await journal.start()
    lease = await journal.claim("s1", "writer", 60)
    assert lease
    rows = [Row(kind, body, detail) for kind, body, detail in map(row_of, events)]
    await journal.append(lease, [*rows, *others], release=True)
    await journal.put("s1", command("c1", AbortCommand(turn_id="t1")))
    await journal.put("s2", command("c2", AbortCommand(turn_id="t1")))
    await journal.aclose()
