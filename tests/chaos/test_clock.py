"""The wall clock jumps by an hour (libfaketime), as it does when a virtual machine wakes up."""

import asyncio
import time
from pathlib import Path

import pytest

from chaos.verdicts import agree
from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.clients import is_whole, new_client, said
from gateway.needed import lacking
from gateway.reading import App
from gateway.served import Served
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets

HOUR_S = 3600


class Clock:
    """What time a process thinks it is: read anew at each of its looks."""

    def __init__(self, folder: Path) -> None:
        libraries = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
        if not libraries:
            lacking("libfaketime is not installed")
        self._file = folder / "clock"
        self.jump(0)
        self.environ = {
            "LD_PRELOAD": str(libraries[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def jump(self, seconds: int) -> None:
        beside = self._file.with_suffix(".new")
        beside.write_text(f"{seconds:+d}\n")
        beside.replace(self._file)


@pytest.mark.fault(
    "the wall clock jumps by an hour, either way",
    "no stream is cut and no limit comes early; only tokens are judged by the new time",
)
@pytest.mark.parametrize(
    ("jump_s", "token_s", "before", "after"),
    [
        pytest.param(HOUR_S, HOUR_S // 2, 400, 401, id="ahead"),
        pytest.param(-HOUR_S, -HOUR_S // 2, 401, 400, id="back"),
    ],
)
async def test_a_jump_of_the_clock_cuts_no_stream(
    tmp_path: Path, jump_s: int, token_s: int, before: int, after: int
) -> None:
    """A token that ends between the two times shows that the gateway saw the jump."""
    clock = Clock(tmp_path)
    jumped = asyncio.Event()
    headers = bearer("u2", iat=None, exp=int(time.time()) + token_s)

    async def script(line: Line) -> None:
        await begin_only(line)
        await jumped.wait()
        await line.say(frames.delta(" again"), frames.finalize())

    async with (
        ScriptedAgent(script) as agent,
        Served(agent.url(), keepalive_s=0.1, idle_s=30).having(clock.environ) as gateway,
        App(gateway).prompt("hi") as chat,
        new_client() as client,
    ):

        async def status() -> int:
            url = f"{gateway.url}/api/sessions/s1/chat"
            return (await client.post(url, json={}, headers=headers)).status_code

        await chat.sees("Hello")
        assert await status() == before
        clock.jump(jump_s)
        assert await status() == after
        kept_alive = chat.body.count(b": keepalive")
        await until(lambda: chat.body.count(b": keepalive") > kept_alive + 5)
        jumped.set()
        body = await chat.end()

        assert said(body) == "Hello again"
        assert is_whole(body)
        assert await agree(gateway, [body]) == {"completed": 1}
