"""Tests of turns that ask their user: a question, or whether a tool may be called."""

import json

from turnwire.core.turn.inputs import ClientLeft, Input, Stopped
from turnwire.testing.base import about
from turnwire.testing.client_model import need
from turnwire.testing.optional.answering import NO, OPEN, YES, AskingAgent
from turnwire.testing.scripts import DONE, OUTPUT


class Questions(AskingAgent):
    def test_an_answer_reaches_its_agent(self) -> None:
        """The answer to a question is sent once, and the turn goes on in the same message."""
        exchange = self._exchange_of("answered")
        asked = self._asked(exchange)
        sent = self._answer(asked, exchange, json.dumps(exchange.answer).encode())
        times = sent.count(json.dumps(exchange.answer)[1:-1].encode())
        need(times == 1, f"the answer is sent {times} times: {sent!r}")
        self._goes_on(asked, exchange, "answered")

    def test_a_yes_and_a_no_differ(self) -> None:
        """A call runs after a yes alone: the agent is sent other bytes, the client shows it."""
        sent = {}
        for name, answer in (("approved", YES), ("denied", NO)):
            exchange = self._exchange_of(name)
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
        exchange = self._exchange_of("answered")
        asked = self._asked(exchange)
        self._answer(asked, exchange, json.dumps(exchange.answer).encode())
        self._refuses(asked, exchange, self._question_id(asked))
        asked.read(exchange.goes_on[:1])
        self._refuses(asked, exchange, self._question_id(asked))
        asked.receive(exchange.goes_on[1:])
        self._is_whole(asked, "answered")

    def test_an_answer_to_nothing_is_not_sent(self) -> None:
        """An answer to a question that was never asked sends nothing, and the other stays open."""
        exchange = self._exchange_of("answered")
        asked = self._asked(exchange)
        self._refuses(asked, exchange, "never-asked")
        need(OPEN in asked.client.questions.values(), "the question is open no more")

    def test_a_question_that_expired_takes_no_answer(self) -> None:
        """The agent takes its question back: the client sees that, and an answer is not sent."""
        exchange = self._exchange_of("expired")
        asked = self._asked(exchange)
        question_id = self._question_id(asked)
        for frame in exchange.goes_on[:-1]:
            asked.read([frame])
            if OPEN not in asked.client.questions.values():
                self._refuses(asked, exchange, question_id)
        need(OPEN not in asked.client.questions.values(), "the client sees it open to the end")
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
                            self._reply(played, exchange, question_id, YES)
                        played.receive(frames[count:]).leave()
