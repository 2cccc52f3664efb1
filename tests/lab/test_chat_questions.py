"""The agent's questions in the terminal chat, against the reference agent and a real gateway."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator

import pytest

from gateway.running import Gateway
from gateway.tokens import token
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.chat.asking import read
from turnwire_lab.client.question import Choice, Question

TEA = (Choice("tea", "tea"), Choice("Black Coffee", "coffee"))
APPROVAL = (Choice("approve", "approve"), Choice("deny", "deny"))
ACTIONS = (Choice("Allow", "allow_once"), Choice("Always", "always"), Choice("Cancel", "cancel"))
PLAIN = (Choice("approve", value=True), Choice("deny", value=False))


@pytest.mark.parametrize(
    ("question", "line", "answer"),
    [
        (Question("q", choices=TEA), "1", "tea"),
        (Question("q", choices=TEA), "2", "coffee"),
        (Question("q", choices=TEA), "black COFFEE", "coffee"),
        (Question("q", choices=TEA), "coffee", "coffee"),
        (Question("q", choices=TEA), "0", None),
        (Question("q", choices=TEA), "3", None),
        (Question("q", choices=TEA), "9" * 5000, None),
        (Question("q", choices=TEA), "y", None),
        (Question("q", choices=TEA), "", None),
        (Question("q"), "1", "1"),
        (Question("q"), "", None),
        (Question("q", choices=APPROVAL, is_approval=True), "y", "approve"),
        (Question("q", choices=APPROVAL, is_approval=True), "NO", "deny"),
        (Question("q", choices=APPROVAL, is_approval=True), "maybe", None),
        (Question("q", choices=ACTIONS, is_approval=True), "yes", "allow_once"),
        (Question("q", choices=ACTIONS, is_approval=True), "n", "cancel"),
        (Question("q", choices=ACTIONS, is_approval=True), "always", "always"),
        (Question("q", choices=PLAIN, is_approval=True), "y", True),
        (Question("q", choices=PLAIN, is_approval=True), "n", False),
        (Question("q", choices=PLAIN, is_approval=True), "2", False),
    ],
)
def test_what_a_line_answers(question: Question, line: str, answer: object) -> None:
    assert read(question, line) == answer


@pytest.fixture
async def there() -> AsyncIterator[tuple[ReferenceAgent, Gateway]]:
    async with (
        ReferenceAgent(Habits(quick_s=0.2)) as agent,
        Gateway(agent.url) as gateway,
    ):
        yield agent, gateway


async def talk(gateway: Gateway, *lines: str) -> tuple[int, str]:
    """The chat with these lines in its pipe: its exit code, and what it showed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", "chat", "--url", gateway.url, "--token", token()),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    out, _ = await process.communicate("".join(f"{line}\n" for line in lines).encode())
    assert process.returncode is not None
    return process.returncode, out.decode()


@pytest.mark.sockets
async def test_a_question_is_answered_from_the_pipe(there: tuple[ReferenceAgent, Gateway]) -> None:
    code, told = await talk(there[1], "ask me: tea or coffee?", "neither", "2", "hello")

    assert code == 0
    assert "1  tea" in told
    assert "Type a number from 1 to 2, or its words." in told
    assert "you said **coffee**" in told
    assert "> hello" in told


@pytest.mark.sockets
async def test_two_questions_are_answered_in_their_order(
    there: tuple[ReferenceAgent, Gateway],
) -> None:
    code, told = await talk(there[1], "ask two things", "blue", "", "Joe")

    assert code == 0
    assert "Type some text." in told
    assert "To 'Which colour do you like?' you said **blue**." in told
    assert "To 'And what is your name?' you said **Joe**." in told


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("answer", "words"), [("y", "12*7 is **84**"), ("n", "I did not work out 12*7: denied.")]
)
async def test_an_approval_is_a_y_or_an_n(
    there: tuple[ReferenceAgent, Gateway], answer: str, words: str
) -> None:
    code, told = await talk(there[1], "approve 12*7", "perhaps", answer)

    assert code == 0
    assert "approval, open" in told
    assert "or y or n." in told
    assert words in told


@pytest.mark.sockets
async def test_where_nobody_can_answer_the_question_expires(
    there: tuple[ReferenceAgent, Gateway],
) -> None:
    code, told = await talk(there[1], "ask quickly")

    assert code == 0
    assert "(nobody here can answer)" in told
    assert "Nobody answered" in told


@pytest.mark.sockets
async def test_commands_show_the_history_ask_again_and_stop(
    there: tuple[ReferenceAgent, Gateway],
) -> None:
    code, told = await talk(there[1], "/again", "/history", "what is 6*7?", "/history", "/again")
    assert code == 1
    assert "Refused: nothing was asked yet\n(nothing was said yet)\n" in told
    assert "you > what is 6*7?\n" in told
    assert told.count("6*7 is **42**.") == 3

    code, told = await talk(there[1], "/again", "/stop")
    assert code == 0
    assert told.endswith("6*7 is **42**.\nNothing runs.\n")
