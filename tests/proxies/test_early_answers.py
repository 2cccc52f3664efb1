"""A response that begins before its proxy has done with the request.

The gateway answers at once, while a proxy may still look whether the body ends where it should.
Here the kernel lets every proxy do so: it holds back what each write returns.
"""

from pathlib import Path

import pytest

from chaos.fronts import Front
from gateway.agent import ScriptedAgent
from gateway.clients import ask, is_whole, new_client, said
from gateway.needed import forbidden, program
from gateway.served import Served
from gateway.tokens import bearer
from proxies.fronts import FRONTS

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

TURNS = 5
HELD_BACK_US = 20_000
_WRITES = "write,writev,sendto,sendmsg"


def belated(kind: type[Front]) -> type[Front]:
    """The same, whose writes return long after their bytes have gone."""

    class Belated(kind):  # type: ignore[misc,valid-type]  # a base that is a value
        def command(self) -> list[str]:
            command: list[str] = super().command()
            return [
                program("strace"),
                "-D",  # so that the process is the proxy, and signals reach it
                "-f",
                "-qq",
                f"--output={self._folder / 'calls'}",
                f"--trace={_WRITES}",
                f"--inject={_WRITES}:delay_exit={HELD_BACK_US}",
                *command,
            ]

        async def _is_up(self) -> bool:
            if "not permitted" in self.log():
                forbidden("tracing")
            return bool(await super()._is_up())

    return Belated


@pytest.mark.parametrize("size", [2, 100_000], ids=["short", "long"])
@pytest.mark.parametrize("kind", FRONTS)
async def test_a_turn_that_is_answered_at_once_is_not_broken_off(
    kind: type[Front], size: int, tmp_path: Path
) -> None:
    async with (
        ScriptedAgent() as agent,
        Served(agent.url()) as gateway,
        belated(kind)(tmp_path, (gateway.port, gateway.port)) as front,
        new_client() as client,
    ):
        for number in range(TURNS):
            url = f"{front.url}/api/sessions/s{number}/chat"
            response = await client.post(url, json=ask("x" * size), headers=bearer())
            assert (response.status_code, said(response.text)) == (200, "Hello world")
            assert is_whole(response.text)
