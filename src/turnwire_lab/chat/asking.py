"""The agent's questions, asked one at a time while their turn waits for the answers."""

import asyncio
from typing import Final

from turnwire_lab.chat.ending import refusal
from turnwire_lab.chat.lines import Lines
from turnwire_lab.chat.screen import Screen
from turnwire_lab.client.client import Client
from turnwire_lab.client.errors import ClientError, Refused
from turnwire_lab.client.question import Question

CONFLICT: Final = 409

_YES: Final = {"y", "yes"}
_NO: Final = {"n", "no"}
_APPROVES: Final = {"approve", "approved", "allow", "allow_once", "yes", True}
_DENIES: Final = {"deny", "denied", "cancel", "no", False}


class Asker:
    """Takes the questions of one turn as they come, and sends the answers."""

    def __init__(self, client: Client, screen: Screen, lines: Lines) -> None:
        self._client = client
        self._screen = screen
        self._lines = lines
        self._open: dict[str, Question] = {}
        self._answered: set[str] = set()
        self._asking: tuple[str, asyncio.Task[None]] | None = None

    def hear(self, question: Question) -> None:
        """A question came: it is open, or closed now."""
        if question.is_open and question.id not in self._answered:
            self._open[question.id] = question
        else:
            self._open.pop(question.id, None)
            if self._asking is not None and self._asking[0] == question.id:
                self._asking[1].cancel()
        self._next()

    async def close(self) -> None:
        """The turn is over: no question waits for an answer."""
        self._open.clear()
        if self._asking is not None:
            task = self._asking[1]
            task.cancel()
            await asyncio.wait([task])

    def _next(self) -> None:
        if self._asking is None and self._open:
            question = next(iter(self._open.values()))
            task = asyncio.create_task(self._ask(question))
            self._asking = question.id, task
            task.add_done_callback(self._asked)

    def _asked(self, _: asyncio.Task[None]) -> None:
        if self._asking is not None:
            self._open.pop(self._asking[0], None)
        self._asking = None
        self._next()

    async def _ask(self, question: Question) -> None:
        with self._screen.asking():
            answer = await self._answer(question)
        if answer is None:
            self._screen.say("(nobody here can answer)", style="dim")
            return
        self._answered.add(question.id)
        try:
            await self._client.answer(question.id, answer, question.approval_id)
        except Refused as refused:
            late = refused.status == CONFLICT
            why = "the question is closed already" if late else refusal(refused)
            self._screen.say(f"Not taken: {why}", style="yellow")
        except ClientError as error:
            self._screen.say(f"Not taken: {error}", style="yellow")

    async def _answer(self, question: Question) -> str | bool | None:
        """Ask until there is an answer; None if there is no input to read."""
        while True:
            self._screen.prompt("answer")
            line = await self._lines.next()
            if line is None:
                return None
            answer = read(question, line)
            if answer is not None:
                return answer
            self._screen.say(_help(question), style="dim")


def read(question: Question, line: str) -> str | bool | None:
    """What a line answers: a number or the words of a choice, y or n, or any text."""
    if not question.choices:
        return line or None
    text = line.casefold()
    if text.isascii() and text.isdigit() and 0 < int(text[:9]) <= len(question.choices):
        return question.choices[int(text) - 1].value
    for choice in question.choices:
        if text in {choice.label.casefold(), str(choice.value).casefold()}:
            return choice.value
    if question.is_approval:
        meant = _APPROVES if text in _YES else _DENIES if text in _NO else set()
        return next((c.value for c in question.choices if c.value in meant), None)
    return None


def _help(question: Question) -> str:
    if not question.choices:
        return "Type some text."
    short = ", or y or n" if question.is_approval else ""
    return f"Type a number from 1 to {len(question.choices)}, or its words{short}."
