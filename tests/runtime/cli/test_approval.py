import asyncio
import os
import sys
from collections.abc import Iterator

import pytest

from turnwire_agent.cli.approval import allowed_at_terminal

Captured = pytest.CaptureFixture[str]
CTRL_D = b"\x04"


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Standard input is a terminal, whose keys are written to this descriptor."""
    keys, terminal = os.openpty()
    with os.fdopen(terminal) as answers:
        monkeypatch.setattr(sys, "stdin", answers)
        yield keys
    os.close(keys)


@pytest.mark.parametrize(
    ("typed", "allowed"),
    [
        (b"y\n", True),
        (b" YES \n", True),
        (b"\n", False),
        (b"n\n", False),
        (b"yet\n", False),
        (CTRL_D, False),
    ],
)
async def test_yes_allows_and_all_else_does_not(
    keyboard: int, typed: bytes, capsys: Captured, *, allowed: bool
) -> None:
    os.write(keyboard, typed)

    assert await allowed_at_terminal("May it\x1b[2J run?") is allowed
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "May it\\x1b[2J run? [y/N] " + ("\n" if typed == CTRL_D else "")


async def test_each_question_takes_its_own_answer(keyboard: int) -> None:
    os.write(keyboard, b"n\ny\n")

    assert [await allowed_at_terminal(each) for each in "ab"] == [False, True]


async def test_whoever_waits_for_the_answer_can_be_interrupted(keyboard: int) -> None:
    asking = asyncio.create_task(allowed_at_terminal("May it run?"))
    for _ in range(3):
        await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    os.write(keyboard, b"y\n")

    assert await allowed_at_terminal("And now?") is True


async def test_nobody_is_asked_without_a_terminal(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert await allowed_at_terminal("May it run?") is None
    monkeypatch.setattr(sys, "stdin", None)
    assert await allowed_at_terminal("May it run?") is None
    assert capsys.readouterr().err == ""
