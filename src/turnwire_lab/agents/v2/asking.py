"""The questions of one turn, from their frame to their end."""

import asyncio
from collections.abc import Callable
from typing import Any

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.parts import Question


class Asking:
    """Each is closed once: by the first answer, by its time, or by the end of the turn."""

    def __init__(self, tell: Callable[[Json], None]) -> None:
        self._tell = tell
        self._open: dict[str, tuple[Question, asyncio.Event]] = {}

    def begin(self, question: Question) -> None:
        self._open[question.id] = question, asyncio.Event()
        self._tell({"type": "question", **question.fields()})

    async def end(self, question: Question) -> None:
        """Wait until it is closed. It expires only during such a wait."""
        try:
            async with asyncio.timeout(question.wait_s):
                await self._open[question.id][1].wait()
        except TimeoutError:
            # The answer may have come in the same breath, and then it counts.
            self._expire(question)
        del self._open[question.id]

    def answer(self, question_id: str, answer: Any) -> bool:
        """False if that question is not open."""
        question, closed = self._open.get(question_id, (None, None))
        if question is None or closed is None or not question.is_open:
            return False
        question.answer = answer
        ids = {"questionId": question.id, "turnId": question.turn_id}
        self._tell({"type": "question.resolved", **ids, "answer": answer})
        closed.set()
        return True

    def give_up(self) -> None:
        """The turn is over: it waits for no answer any more."""
        for question, _ in self._open.values():
            self._expire(question)

    def _expire(self, question: Question) -> None:
        if question.is_open:
            question.expired = True
            ids = {"questionId": question.id, "turnId": question.turn_id}
            self._tell({"type": "question.expired", **ids})
