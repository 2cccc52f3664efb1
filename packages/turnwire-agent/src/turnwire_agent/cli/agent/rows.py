"""What is in a session, for the operator: its rows, without secret arguments."""

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw

from turnwire_agent.cli.agent.parts import secrets_of
from turnwire_agent.cli.arguments import tools
from turnwire_agent.journal.port import Journal, Row
from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.transcript import Text
from turnwire_agent.session import deltas as streamed
from turnwire_agent.session import events as of
from turnwire_agent.settings import Agent
from turnwire_agent.v2.frames import Frames

PAGE: Final = 1_000

Facts = dict[str, Any]


class _Every(frozenset[str]):
    """The names of all arguments there could be."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)


EVERY_ARGUMENT: Final = _Every({"every"})


def frames_for(agent: Agent, *, named: bool) -> Frames:
    """What writes the frames of a session.

    Args:
        agent: Its tools say which arguments are secret.
        named: Whether the command line names an agent. If it does not, nobody knows which
            arguments are secret, and no argument is shown.

    Raises:
        UsageError: A tool is not there.
    """
    known: Callable[[str], frozenset[str]] = secrets_of(tools(agent.tools))
    return Frames(known if named else lambda _: EVERY_ARGUMENT)


async def rows_of(journal: Journal, session: str) -> AsyncIterator[Row]:
    """All rows of a session, in their order."""
    after = 0
    while True:
        rows = await journal.read(session, after=after, details=True, limit=PAGE)
        for row in rows:
            yield row
        if len(rows) < PAGE:
            return
        after = rows[-1].seq


def facts_of(event: of.Event, frames: Frames) -> Facts:
    """What an operator wants to know of an event, in the order of reading. Empty facts are none."""
    found = {"turn": getattr(event, "turn_id", None)} | _facts(event, frames)
    return {name: value for name, value in found.items() if value not in (None, "", (), [], UNSET)}


def time_of(event: of.Event) -> str:
    """When it happened, as `2026-11-26T03:16:01Z`; empty if the event has no time."""
    at = getattr(event, "at", 0.0)
    if not at:
        return ""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _facts(event: of.Event, frames: Frames) -> Facts:
    match event:
        case of.Prompted():
            return {
                "entry": event.entry_id,
                "prompt": event.prompt_id,
                "user": event.user_id,
                "text": event.content,
                "files": [each.filename or each.mime for each in event.attachments],
                "replaces": ["edit"] * event.edit + ["regenerate"] * event.regenerate,
            }
        case of.PromptTakenBack(entry_id):
            return {"entry": entry_id}
        case of.PromptRepeated(entry_id, prompt_id):
            return {"entry": entry_id, "prompt": prompt_id}
        case of.TurnBegun(entry_id=entry_id):
            return {"entry": entry_id}
        case of.TurnEnded():
            return {
                "reason": event.reason,
                "finish": event.finish_reason,
                "error": event.error,
                "tokens": _tokens(event.usage),
            }
        case of.StepBegun():
            return {"step": event.step, "attempt": event.attempt, "model": event.model}
        case of.StepEnded():
            tokens = _tokens(event.usage)
            calls = [f"{each.name} ({each.id})" for each in event.message.calls]
            return {
                "step": event.step,
                "finish": event.finish_reason,
                "calls": calls,
                "tokens": tokens,
            }
        case of.AttemptLost():
            return {"step": event.step, "attempt": event.attempt, "why": event.why}
        case of.Streamed(deltas=deltas):
            return _streamed(deltas, frames)
        case of.CallBegun():
            shown = _json(frames.args(event.tool, event.input))
            call = {"call": event.call_id, "tool": event.tool, "input": shown}
            return call | {"effect": event.effect, "key": event.key, "run": event.run}
        case of.CallEnded():
            call = {"call": event.call_id, "tool": event.tool, "outcome": event.outcome}
            content = "".join(each.text for each in event.content if isinstance(each, Text))
            return call | {"error": event.error, "result": content}
        case of.QuestionAsked():
            shown = _json(frames.args(event.tool or "", event.input))
            asked = {"question": event.question_id, "text": event.text, "options": event.options}
            return asked | {"call": event.call_id, "tool": event.tool, "input": shown}
        case of.QuestionClosed():
            answer = "(none in time)" if event.answer is UNSET else _json(event.answer)
            return {"question": event.question_id, "answer": answer, "user": event.user_id}
        case of.Compacted(transcript=transcript):
            return {"messages": len(transcript)}
        case _:
            return {}


def _streamed(deltas: tuple[streamed.Delta, ...], frames: Frames) -> Facts:
    """The pieces of one kind as one."""
    found: Facts = {}
    for delta in deltas:
        match delta:
            case streamed.TextAdded(text):
                found["text"] = found.get("text", "") + text
            case streamed.ReasoningAdded(text):
                found["reasoning"] = found.get("reasoning", "") + text
            case streamed.InputAdded(call_id, tool, text):
                shown = text if frames.shows_pieces(tool) else "(hidden)"
                found[f"input of {call_id}"] = found.get(f"input of {call_id}", "") + shown
            case streamed.StatusChanged(status, detail):
                found["status"] = status if detail is None else f"{status} {detail}"
            case _:
                found.setdefault("others", []).append(str(delta.__struct_config__.tag))
    return found


def _tokens(usage: Usage | None) -> list[int | None] | None:
    """In, and out."""
    if usage is None or (usage.input is None and usage.output is None):
        return None
    return [usage.input, usage.output]


def _json(value: Raw | msgspec.UnsetType) -> Any:
    return None if value is UNSET else msgspec.json.decode(value)
