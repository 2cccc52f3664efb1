import asyncio
import os
import sys
from pathlib import Path

import pytest

from runtime.llm.credentials.token_server import SetClock, until
from turnwire_agent.llm.credentials.key_command import KeyCommand
from turnwire_agent.llm.credentials.port import CredentialError

pytestmark = pytest.mark.sockets


def shell(script: str, **bounds: float) -> KeyCommand:
    return KeyCommand(["/bin/sh", "-c", script], **bounds)  # type: ignore[arg-type]


async def failure(command: KeyCommand) -> tuple[str, str]:
    with pytest.raises(CredentialError) as raised:
        await command.read()
    return raised.value.failure.reason, str(raised.value)


@pytest.mark.parametrize("printed", ["key", "key\\n", "key\\r\\n", "key\\nmore\\n"])
async def test_its_first_line_is_the_key(printed: str) -> None:
    assert (await shell(f"printf '{printed}'").read()).reveal() == "key"


async def test_no_shell_looks_at_its_arguments() -> None:
    command = KeyCommand(["/bin/echo", "$HOME;`x`"])

    assert (await command.read()).reveal() == "$HOME;`x`"


async def test_many_tasks_share_one_run_and_its_key_is_kept_for_a_while(tmp_path: Path) -> None:
    clock = SetClock()
    runs = tmp_path / "runs"
    command = KeyCommand(
        ["/bin/sh", "-c", f"echo x >> {runs}; echo key"],
        kept_s=300,
        monotonic=clock.clock.monotonic,
    )

    keys = await asyncio.gather(*(command.read() for _ in range(20)))
    assert {key.reveal() for key in keys} == {"key"}
    clock.monotonic_s = 290
    await command.read()
    assert runs.read_text() == "x\n"
    clock.monotonic_s = 310
    await command.read()
    assert runs.read_text() == "x\n" * 2
    command.expire()
    await command.read()
    assert runs.read_text() == "x\n" * 3


async def test_what_it_prints_is_not_shown_when_it_fails(capfd: pytest.CaptureFixture[str]) -> None:
    reason, message = await failure(shell("echo canary >&2; echo canary; exit 3"))

    assert reason == "unavailable"
    assert message == (
        "No key: the command /bin/sh ended with status 3. Run it by hand to see why: what it "
        "writes may hold secrets, and is not shown."
    )
    assert capfd.readouterr() == ("", "")


async def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    command = shell(f"cat {tmp_path}/key")
    await failure(command)
    (tmp_path / "key").write_text("key")

    assert (await command.read()).reveal() == "key"


async def test_bad_output_is_refused() -> None:
    assert await failure(shell("true")) == (
        "missing",
        "No key: the output of the command /bin/sh is empty.",
    )
    assert await failure(shell("echo 'a canary'")) == (
        "unusable",
        "The key of the output of the command /bin/sh has a space as character 2. No key has that.",
    )


async def test_long_output_is_cut_and_does_not_hold_the_command() -> None:
    endless = f"import sys; sys.stdout.write('key\\n' + {'x' * 1000!r} * 1000)"

    assert (await KeyCommand([sys.executable, "-c", endless]).read()).reveal() == "key"


async def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    assert await failure(KeyCommand([f"{tmp_path}/none", "canary"])) == (
        "unusable",
        f"No key: the command {tmp_path}/none: No such file or directory.",
    )
    with pytest.raises(ValueError, match="at least the name"):
        KeyCommand([])


def alive(pid: int) -> bool:
    """A zombie is not: whoever adopts it may be slow to bury it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_after_its_time_it_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = shell(f"sleep 600 & echo $! $$ > {pids}; wait", timeout_s=0.5)

    assert await failure(command) == (
        "unavailable",
        "No key: the command /bin/sh took more than 0.5 s.",
    )
    if pids.exists():  # on a machine that is busy it may have been killed before that
        await until(lambda: not any(alive(int(pid)) for pid in pids.read_text().split()))


async def test_it_is_killed_when_the_loop_ends(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = shell(f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600")

    async def ended() -> None:
        task = asyncio.create_task(command.read())
        await until(pid.exists)
        await asyncio.sleep(0.2)  # asyncio may wait for ever for a process that it is just starting
        assert not task.done()

    await asyncio.to_thread(asyncio.run, ended())
    await until(lambda: not alive(int(pid.read_text())))


async def test_a_daemon_that_it_started_lives_on(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    command = shell(f"sleep 600 >/dev/null & echo $! > {pid}; echo key")

    await command.read()

    daemon = int(pid.read_text())
    assert alive(daemon)
    os.kill(daemon, 9)


async def test_a_waiter_that_is_cancelled_does_not_end_the_run(tmp_path: Path) -> None:
    command = shell(f"while [ ! -e {tmp_path}/go ]; do sleep 0.01; done; echo key")
    cancelled = asyncio.create_task(command.read())
    other = asyncio.create_task(command.read())
    await asyncio.sleep(0)
    cancelled.cancel()
    (tmp_path / "go").touch()

    assert (await other).reveal() == "key"
    assert cancelled.cancelled()
