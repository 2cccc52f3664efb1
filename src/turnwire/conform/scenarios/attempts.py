"""An attempt that was lost: what of it is taken back, and what stands."""

from collections.abc import Iterable, Sequence
from typing import Final

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError
from turnwire.conform.scenario import Scenario, feature, prompt
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.core.agent import Feature
from turnwire.core.events import (
    Event,
    FilePart,
    PartsRetracted,
    Question,
    ReasoningDelta,
    SourceUrl,
    StepStarted,
    TextDelta,
    ToolInputDelta,
    ToolUpdate,
)
from turnwire.core.operations import History, HistoryTurn, OperationName


async def takes_lost_attempts_back(bench: Bench) -> Sequence[str]:
    """Have an attempt lost, and see what stands at the end and in the history."""
    with bench.playing(bench.given.prompts.lost_attempt) as play:
        await play.to_end(bench.patience.turn_s)
    expect_completed(play, "the turn with a lost attempt")
    all_events = [each.event for each in play.timed_events]
    if not play.events(PartsRetracted):
        raise FailedError("nothing was taken back")
    stands = standing_text(all_events)
    notes = ["the lost attempt had no text"] * (_words(stands) == _words(play.text))
    finish = play.finish
    final = None if finish is None else finish.final_text
    if final is not None and _words(final) not in {_words(stands), _words(stands[-len(final) :])}:
        raise FailedError("the text at the end of the turn is not the one that stands")
    if OperationName.HISTORY not in bench.dialect.operations or not bench.has_greeting:
        return notes
    history = await bench.history()
    entries = history.entries if isinstance(history, History) else ()
    texts = [standing_text(each.events) for each in entries if isinstance(each, HistoryTurn)]
    if texts and _words(stands) not in map(_words, texts):
        raise FailedError("the history has another text than the one that stands")
    return notes


def standing_text(events: Iterable[Event]) -> str:
    """The text of these events, without what was taken back. Data for the app is not counted."""
    parts: list[tuple[str, str]] = []
    """The kind and the text of each part that stands, by its position."""
    ends_block = True
    for event in events:
        if isinstance(event, TextDelta | ReasoningDelta):
            kind = type(event).__name__
            if event.text and (ends_block or parts[-1][0] != kind):
                parts.append((kind, ""))
                ends_block = False
            if event.text:
                parts[-1] = (kind, parts[-1][1] + event.text)
        elif isinstance(event, ToolUpdate | ToolInputDelta):
            if event.call_id not in [name for name, _ in parts]:
                parts.append((event.call_id, ""))
        elif isinstance(event, FilePart | SourceUrl | Question):
            parts.append(("", ""))
        elif isinstance(event, StepStarted | PartsRetracted):
            ends_block = True
            if isinstance(event, PartsRetracted):
                del parts[event.since :]
    return "".join(text for kind, text in parts if kind == TextDelta.__name__)


def _words(text: str) -> str:
    return "".join(text.split())


SCENARIOS: Final = (
    Scenario(
        name="lost-attempt",
        tries="send the prompt that loses an attempt",
        expects="its parts are taken back; the final text and the history have only the rest",
        matters="The user reads the same answer twice, and the model reads it in the next prompt.",
        mend="Take back the parts from where the call of the model began, before the next one.",
        play=takes_lost_attempts_back,
        turns=1,
        needs=(
            feature(Feature.RETRACTS, "this wire has no way to take parts back"),
            prompt("lost_attempt"),
        ),
        after=(ONE_TURN,),
    ),
)
