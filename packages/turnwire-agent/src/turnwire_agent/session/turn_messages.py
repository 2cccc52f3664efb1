"""What one turn adds to the transcript that models are sent."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import UNSET

from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    Message,
    Reasoning,
    Result,
    Results,
    Text,
    Transcript,
)
from turnwire_agent.session.events import (
    CallBegun,
    CallEnded,
    CallPart,
    Compacted,
    Event,
    Part,
    ReasoningPart,
    StepBegun,
    StepEnded,
    TextPart,
)


def messages_of(events: Iterable[Event], parts: Sequence[Part] = ()) -> Transcript:
    """What a turn adds to the transcript: `TurnEnded.messages`.

    Lost attempts are not in it, nor what a compacted transcript has already. A call that may have
    been run, and has no outcome, has no result: `loop.prepare` makes it `unknown`.

    Args:
        events: Of the turn, oldest first.
        parts: Of the turn, once it is over. A call that was never run gets the outcome `canceled`.
            If the driver reports no calls of models, its text and its calls are taken from here.

    """
    after: list[Event] = []
    asks_models = False
    for event in events:
        asks_models = asks_models or isinstance(event, StepBegun | StepEnded | Compacted)
        if isinstance(event, Compacted):
            after.clear()
        else:
            after.append(event)
    outcomes = _Outcomes(after, parts)
    if asks_models:
        return _of_steps((each for each in after if isinstance(each, StepEnded)), outcomes)
    return _of_parts(parts, outcomes)


class _Outcomes:
    """What became of the calls of a turn, by their ids in the turn."""

    def __init__(self, events: Iterable[Event], parts: Iterable[Part]) -> None:
        self._ended: dict[str, CallEnded] = {}
        begun: set[str] = set()
        for event in events:
            if isinstance(event, CallEnded):
                self._ended.setdefault(event.call_id, event)
            elif isinstance(event, CallBegun):
                begun.add(event.call_id)
        calls = {part.call_id for part in parts if isinstance(part, CallPart)}
        self._never_run = calls - begun - self._ended.keys()

    def results(self, calls: Mapping[str, Call]) -> list[Results]:
        """The results of one answer, in the order of its calls; none if no call has one."""
        found = tuple(
            Result(call.id, call.name, ended.content, ended.outcome)
            if (ended := self._ended.get(call_id)) is not None
            else Result(call.id, call.name, outcome="canceled")
            for call_id, call in calls.items()
            if call_id in self._ended or call_id in self._never_run
        )
        return [Results(found)] if found else []


def _of_steps(steps: Iterable[StepEnded], outcomes: _Outcomes) -> Transcript:
    messages: list[Message] = []
    for step in steps:
        if not (step.message.parts or step.message.native):
            continue  # no provider takes an empty answer back
        messages.append(step.message)
        # Models may use an id twice: those of the turn are unique.
        messages += outcomes.results(dict(zip(step.call_ids, step.message.calls, strict=False)))
    return tuple(messages)


def _of_parts(parts: Iterable[Part], outcomes: _Outcomes) -> Transcript:
    """The text and the calls of a driver that reports no calls of models.

    Text behind a call is another answer: a model would have had the result before it went on.
    """
    answers: list[list[Text | Reasoning | Call]] = [[]]
    for part in parts:
        match part:
            case TextPart(text):
                words: Text | Reasoning = Text(text)
            case ReasoningPart(text):
                words = Reasoning(text)
            case CallPart(call_id=call_id, tool=tool, input=arguments):
                written = "{}" if arguments is UNSET else bytes(arguments).decode()
                answers[-1].append(Call(call_id, tool, written))
                continue
            case _:
                continue
        if answers[-1] and isinstance(answers[-1][-1], Call):
            answers.append([])
        answers[-1].append(words)
    messages: list[Message] = []
    for answer in filter(None, answers):
        message = Assistant(tuple(answer))
        messages.append(message)
        messages += outcomes.results({call.id: call for call in message.calls})
    return tuple(messages)
