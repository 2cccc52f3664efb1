"""A scripted agent that asks, and the user who answers it."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final
from unittest import SkipTest

from msgspec import Raw

from turnwire.core.operations import Answered, OperationName
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, QuestionReply
from turnwire.core.turn.inputs import AgentLeft, Replied
from turnwire.core.turn.outcome import Outcome
from turnwire.testing.base import PROMPT_ID, ScriptedAgent
from turnwire.testing.client_model import need
from turnwire.testing.exchanges import EXCHANGES, Exchange
from turnwire.testing.playing import Played

_USER: Final = "user-1"
_INIT_S: Final = 2.0
_VERDICT_S: Final = 5.0
_TICKS: Final = 4
"""Deadlines of an operation, until it must have a result."""
YES: Final = b"true"
NO: Final = b"false"
OPEN: Final = "open"


class AskingAgent(ScriptedAgent):
    def _exchange_of(self, name: str) -> Exchange:
        exchange = self.exchange(EXCHANGES[name], PROMPT_ID)
        if exchange is None:
            raise SkipTest(f"`exchange` has no frames for `{name}`")
        return exchange

    def _exchanges(self) -> list[Exchange]:
        return [exchange for _, exchange, _ in self._answered_turns()]

    def _asked(self, exchange: Exchange, **options: Any) -> Played:
        """A turn whose question is open. `options` are those of `play`."""
        played = self.play(**options).receive(exchange.asks)
        if exchange.leaves:
            played.handle(AgentLeft())
        need(OPEN in played.client.questions.values(), "the client sees no open question")
        need(played.turn.outcome is None, "the turn does not wait for an answer")
        return played

    def _question_id(self, asked: Played) -> str:
        return next(iter(asked.client.questions))

    def _answer(self, asked: Played, exchange: Exchange, answer: bytes) -> bytes:
        """Answer the open question. Returns what is sent to the agent for it."""
        if OperationName.ANSWER in self.dialect.operations:
            result, sent = self._operate(self._question_id(asked), answer, exchange.operation)
            need(result == Answered(), f"the operation has the result {result}")
            return sent
        return self._reply(asked, exchange, self._question_id(asked), answer)

    def _refuses(self, asked: Played, exchange: Exchange, question_id: str) -> None:
        """Answer a question that is not open: nothing is sent, nothing is shown."""
        written, answer = asked.written, json.dumps(exchange.answer).encode()
        if OperationName.ANSWER in self.dialect.operations:
            result, sent = self._operate(question_id, answer, exchange.late)
            need(isinstance(result, Rejection), f"the operation has the result {result}")
        else:
            sent = self._reply(asked, exchange, question_id, answer)
        need(not sent, f"an answer to {question_id} is sent: {sent!r}")
        need(asked.written == written, "the client is shown something")

    def _reply(self, played: Played, exchange: Exchange, question_id: str, answer: bytes) -> bytes:
        if OperationName.ANSWER in self.dialect.operations:
            self._operate(question_id, answer, exchange.operation[:1])
            return b""
        frames, requests = len(played.sent), len(played.requests)
        played.handle(Replied(QuestionReply(question_id, Raw(answer)), _USER))
        bodies = [request.body for request in played.requests[requests:]]
        return b"".join([*bodies, *played.sent[frames:]])

    def _operate(
        self, question_id: str, answer: bytes, frames: Sequence[bytes]
    ) -> tuple[Answered | Rejection | None, bytes]:
        """Answer on a connection of its own. Returns the result, and what was sent."""
        request = AnswerRequest(
            user_id=_USER,
            session_id="s1",
            init_s=_INIT_S,
            verdict_s=_VERDICT_S,
            reply=QuestionReply(question_id, Raw(answer)),
        )
        operation = self.dialect.answer(request)
        sent = [operation.connect_request().body, *operation.connection_opened(0)]
        steps: list[Callable[[], Sequence[bytes]]] = [
            *(lambda frame=frame: operation.receive_frame(frame, 1) for frame in frames),
            *[lambda: operation.tick(operation.deadline)] * _TICKS,
        ]
        for step in steps:
            if operation.result is not None or operation.deadline == float("inf"):
                break
            sent += step()
        if operation.result is None:
            operation.connection_lost()
        need(operation.result is not None, "an operation whose connection ended has no result")
        return operation.result, b"".join(sent)

    def _goes_on(self, asked: Played, exchange: Exchange, name: str) -> None:
        self._is_whole(asked.receive(exchange.goes_on), name)

    def _is_whole(self, asked: Played, name: str) -> None:
        text = EXCHANGES[name].text
        asked.settle().close()
        need(asked.turn.outcome is Outcome.COMPLETED, f"the outcome is {asked.turn.outcome}")
        shown = asked.client.streamed_text
        need(shown == text, f"the client has {shown!r}, not {text!r}")
        need(len(asked.client.questions) == 1, f"the questions are {asked.client.questions}")

    def _answered_turns(self) -> Iterator[tuple[str, Exchange, bytes | None]]:
        """Each turn that asks, by name, with its frames and the answer that belongs to it."""
        made = {name: self.exchange(EXCHANGES[name], PROMPT_ID) for name in EXCHANGES}
        if not any(made.values()):
            raise SkipTest("`exchange` has no frames: the agent asks nothing")
        for name, exchange in made.items():
            if exchange is not None:
                answers = {"approved": YES, "denied": NO, "expired": None}
                yield name, exchange, answers.get(name, json.dumps(exchange.answer).encode())
