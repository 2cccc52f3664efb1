"""An output protocol that keeps what it is fed, and passes it on to the output of a client."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Raw

from turnwire.core.events import (
    Event,
    Question,
    QuestionClosed,
    Reason,
    ReplayFinished,
    ReplayStarted,
    ReplayUncertain,
    Replied,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.output import OutputProtocol
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn_log.entries import pack
from turnwire.core.turn_log.questions import AskedQuestions


class Keeper(Protocol):
    """Where a tee keeps the events of its turn. No call blocks or raises."""

    @property
    def append(self) -> Callable[[bytes, int], object]:
        """Keeps entries in a row: packed, and how many they are."""
        ...

    @property
    def append_texts(self) -> Callable[[Sequence[str]], object]:
        """Keeps text deltas in a row."""
        ...

    def over(self) -> None:
        """The turn is over: the last entry was its end."""
        ...

    def paused(self) -> None:
        """The turn waits for its client. Nothing follows."""
        ...

    def failed(self) -> None:
        """The turn did not begin, or did not go on. Nothing was kept, and nothing follows."""
        ...


_REPLAY: Final = (ReplayStarted, ReplayUncertain, ReplayFinished)

_OF_ONE_CLIENT: Final = frozenset({Outcome.SLOW_CLIENT.text, Outcome.EXPIRED.text})
"""Errors that are about the client of the prompt, and mean nothing to a reader."""

_CANCELED: Final = frozenset(
    {Outcome.CLIENT_GONE, Outcome.ABANDONED, Outcome.SLOW_CLIENT, Outcome.EXPIRED}
)
"""Outcomes with which the gateway gives the turn up, because of its client."""

_NO_ANSWERS: Final[Mapping[str, Raw]] = {}


class Tee:
    """One output for the client of a turn, and one copy of the events for its readers.

    `asker`: who sent the prompt. `answers`: those that a continued turn begins with, by question.
    What a continued turn repeats of the log is not kept a second time. The answers are kept once
    the turn goes on: until then it may wait for them again.
    """

    __slots__ = (
        "_answered",
        "_answers",
        "_feed_texts",
        "_has_kept",
        "_is_over",
        "_is_repeated",
        "_keep_texts",
        "_keeper",
        "_output",
        "can_pause",
        "has_fixed_steps",
        "has_short_texts",
        "headers",
        "keepalive",
        "questions",
        "turn_id",
    )

    def __init__(
        self,
        output: OutputProtocol,
        keeper: Keeper,
        *,
        asker: str = "",
        answers: Mapping[str, Raw] = _NO_ANSWERS,
    ) -> None:
        self.headers = output.headers
        self.keepalive = output.keepalive
        self.can_pause = output.can_pause
        self.has_short_texts = output.has_short_texts
        self.has_fixed_steps = output.has_fixed_steps
        self.questions = AskedQuestions(asker)
        self.turn_id: str | None = None
        """The id of the turn for the client; None before it began."""
        self._output = output
        self._feed_texts = output.feed_texts
        self._keeper = keeper
        self._keep_texts = keeper.append_texts
        self._answers = answers
        self._answered: list[QuestionClosed] = []
        """The ends of answered questions, until the turn goes on."""
        self._has_kept = self._is_over = self._is_repeated = False

    @property
    def is_waiting(self) -> bool:
        return self._output.is_waiting

    @property
    def contradicted_chars(self) -> int:
        return self._output.contradicted_chars

    def feed(self, event: Event, now: float) -> bytes:
        self._keep(event)
        return self._output.feed(event, now)

    def ask(self, question: Question, now: float, *, is_over: bool) -> bytes:
        self._keep(question)
        return self._output.ask(question, now, is_over=is_over)

    def feed_texts(self, texts: Sequence[str], now: float) -> bytes:
        if not self._has_kept:
            self._begin()
        # A method that is an attribute is slow to call, and a local name is not.
        keep, feed = self._keep_texts, self._feed_texts
        keep(texts)
        return feed(texts, now)

    def pause(self) -> bytes:
        self._is_over = True
        self._keeper.paused()
        return self._output.pause()

    def fail(self, text: str) -> bytes:
        if text not in _OF_ONE_CLIENT:
            self._fail(TurnFinished(reason=Reason.ERROR, error=text))
        return self._output.fail(text)

    def end(self, outcome: Outcome | None) -> None:
        """The stream is over with this outcome: no events follow. None: it crashed.

        Readers get an end, if the turn had none and does not wait for its client.
        """
        if outcome in _CANCELED:
            self._fail(TurnFinished(reason=Reason.CANCELED))
        else:
            self._fail(TurnFinished(reason=Reason.ERROR, error=Outcome.INTERRUPTED.text))

    def _fail(self, end: TurnFinished) -> None:
        if self._has_kept:
            self._keep(end)
        elif not self._is_over:
            self._is_over = True
            self._keeper.failed()

    def _keep(self, event: Event) -> None:
        if self._is_over:
            return
        self.questions.take(event)
        if isinstance(event, _REPLAY):
            self._is_repeated = not isinstance(event, ReplayFinished)
            if isinstance(event, ReplayStarted):
                self.turn_id = event.turn_id
        elif isinstance(event, Replied):
            answer = self._answers.get(event.question_id)
            self._answered.append(QuestionClosed(event.question_id, answer=answer))
        elif not self._is_repeated:
            if isinstance(event, TurnStarted):
                self.turn_id = self.turn_id or event.turn_id
            if not self._has_kept:
                self._begin()
            self._keeper.append(pack(event), 1)
            if isinstance(event, TurnFinished):
                self._is_over = True
                self._keeper.over()

    def _begin(self) -> None:
        """The turn begins, or goes on after it waited."""
        self._has_kept = True
        for closed in self._answered:
            self._keeper.append(pack(closed), 1)
