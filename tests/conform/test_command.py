"""A command of the user: its exit code, its end."""

import asyncio
from pathlib import Path

import pytest

from gateway.waiting import PATIENCE_S
from turnwire.conform.command import run_command

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize(("command", "code"), [("true", 0), ("exit 3", 3), ("/no/such", 127)])
async def test_its_exit_code_is_told(command: str, code: int) -> None:
    assert await run_command(command, 20.0) == code


async def test_what_it_prints_is_not_shown_and_its_errors_are(
    capfd: pytest.CaptureFixture[str],
) -> None:
    await run_command("echo done; echo oh >&2", 20.0)
    assert capfd.readouterr() == ("", "oh\n")


async def test_one_that_takes_too_long_is_killed_with_what_it_started(tmp_path: Path) -> None:
    late = tmp_path / "late"
    assert await run_command(f"(sleep 1; touch {late}) & wait", 0.3) is None
    await asyncio.sleep(1.2)
    assert not late.exists()


async def test_what_it_leaves_behind_lives_on(tmp_path: Path) -> None:
    late = tmp_path / "late"
    assert await run_command(f"(sleep 0.2; touch {late}) &", 20.0) == 0
    async with asyncio.timeout(PATIENCE_S):
        while not late.exists():  # noqa: ASYNC110 (a file has no event)
            await asyncio.sleep(0.02)
