"""Tests of turns that ask their user: a question, or whether a tool may be called."""

import json
from collections.abc import Callable, Sequence
from typing import Final
from unittest import SkipTest

from msgspec import Raw

from turnwire.core.operations import Answered, OperationName
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, QuestionReply
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Input, Replied, Stopped
from turnwire.core.turn.outcome import Outcome
from turnwire.testing.base import PROMPT_ID, ScriptedAgent, about
from turnwire.testing.client_model import need
from turnwire.testing.exchanges import EXCHANGES, Exchange
from turnwire.testing.playing import Played
from turnwire.testing.scripts import DONE, OUTPUT

_USER: Final = "user-1"
_INIT_S: Final = 2.0
_VERDICT_S: Final = 5.0
_TICKS: Final = 4
"""Deadlines of an operation, until it must have a result."""
_YES, _NO = b"true", b"false"
_OPEN: Final = "open"


class Questions(ScriptedAgent):
    def test_an_answer_reaches_its_agent(self) -> None:
        """The answer to a question is sent once, and the turn goes on in the same message."""
        exchange = self._exchange("answered")
        asked = self._asked(exchange)
        sent = self._answer(asked, exchange, json.dumps(exchange.answer).encode())
        times = sent.count(json.dumps(exchange.answer)[1:-1].encode())
        need(times == 1, f"the answer is sent {times} times: {sent!r}")
        self._goes_on(asked, exchange, "answered")

    def test_a_yes_and_a_no_differ(self) -> None:
        """A call runs after a yes alone: the agent is sent other bytes, the client shows it."""
        sent = {}
        for name, answer in (("approved", _YES), ("denied", _NO)):
            exchange = self._exchange(name)
            asked = self._asked(exchange)
            sent[name] = self._answer(asked, exchange, answer)
            need(sent[name], f"{name}: nothing is sent")
            self._goes_on(asked, exchange, name)
            calls = [part for part in asked.client.parts if part["type"].startswith("tool-")]
            done = [each for each in calls if each["state"] == DONE]
            returned = [each for each in done if OUTPUT in json.dumps(each["output"])]
            if self.shows_outputs:
                need(len(returned) == (name == "approved"), f"{name}: the calls are {calls}")
        need(sent["approved"] != sent["denied"], f"a yes and a no are {sent['denied']!r}")

    def test_a_second_answer_is_not_sent(self) -> None:
        """A question takes one answer: another one sends nothing, and changes nothing."""
        exchange = self._exchange("answered")
        asked = self._asked(exchange)
        self._answer(asked, exchange, json.dumps(exchange.answer).encode())
        self._refuses(asked, exchange, self._question_id(asked))
        asked.read(exchange.goes_on[:1])
        self._refuses(asked, exchange, self._question_id(asked))
        asked.receive(exchange.goes_on[1:])
        self._is_whole(asked, "answered")

    def test_an_answer_to_nothing_is_not_sent(self) -> None:
        """An answer to a question that was never asked sends nothing, and the other stays open."""
        exchange = self._exchange("answered")
        asked = self._asked(exchange)
        self._refuses(asked, exchange, "never-asked")
        need(_OPEN in asked.client.questions.values(), "the question is open no more")

    def test_a_question_that_expired_takes_no_answer(self) -> None:
        """The agent takes its question back: the client sees that, and an answer is not sent."""
        exchange = self._exchange("expired")
        asked = self._asked(exchange)
        question_id = self._question_id(asked)
        for frame in exchange.goes_on[:-1]:
            asked.read([frame])
            if _OPEN not in asked.client.questions.values():
                self._refuses(asked, exchange, question_id)
        need(_OPEN not in asked.client.questions.values(), "the client sees it open to the end")
        asked.read(exchange.goes_on[-1:])
        self._is_whole(asked, "expired")

    def test_a_turn_that_nobody_answers_ends(self) -> None:
        """Deadlines end a turn that waits, and the client sees that nobody waits any more."""
        for exchange in self._exchanges():
            self._asked(exchange).wait().close()

    def test_an_answer_may_come_at_any_time(self) -> None:
        """Before the question, after the end, to a stopped turn: nothing raises, the turn ends."""
        for exchange in self._exchanges():
            frames = [*exchange.asks, *exchange.goes_on]
            question_id = self._question_id(self._asked(exchange))
            ends: tuple[tuple[Input, ...], ...] = ((), (Stopped(),), (ClientLeft(),))
            for count in range(len(frames) + 1):
                with about(f"{count} of {len(frames)} frames had come"):
                    for end in ends:
                        played = self.play().receive(frames[:count])
                        for each in end:
                            played.handle(each)
                        for _ in range(2):
                            self._reply(played, exchange, question_id, _YES)
                        played.receive(frames[count:]).leave()

    def _exchange(self, name: str) -> Exchange:
        exchange = self.exchange(EXCHANGES[name], PROMPT_ID)
        if exchange is None:
            raise SkipTest(f"`exchange` has no frames for `{name}`")
        return exchange

    def _exchanges(self) -> Sequence[Exchange]:
        made = [self.exchange(script, PROMPT_ID) for script in EXCHANGES.values()]
        if not any(made):
            raise SkipTest("`exchange` has no frames: the agent asks nothing")
        return [each for each in made if each is not None]

    def _asked(self, exchange: Exchange) -> Played:
        """A turn whose question is open."""
        played = self.play().receive(exchange.asks)
        if exchange.leaves:
            played.handle(AgentLeft())
        need(_OPEN in played.client.questions.values(), "the client sees no open question")
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
