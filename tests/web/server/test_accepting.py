"""Newcomers, while the event loop has other things to do."""

import asyncio
import itertools
import socket
import sys
from contextlib import ExitStack

import pytest

from turnwire.web.server.accepting import ACCEPTED_MAX, Acceptor
from turnwire.web.server.server import listen

pytestmark = pytest.mark.sockets
NEWCOMERS = 100


class Counted(asyncio.Protocol):
    """A connection that is counted."""

    made: list["Counted"]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.made.append(self)


async def rounds(*, beside: bool) -> list[int]:
    """How many newcomers are in after each round of the loop, until all are."""
    Counted.made = []
    with listen("127.0.0.1", 0) as sock, ExitStack() as stack:
        made = Acceptor([sock], Counted).protocol if beside else Counted
        server = await asyncio.get_running_loop().create_server(made, sock=sock)
        for _ in range(NEWCOMERS):  # the kernel connects them, while the loop does nothing else
            stack.enter_context(socket.create_connection(sock.getsockname()))
        after = []
        for _ in itertools.count():
            await asyncio.sleep(0)
            after.append(len(Counted.made))
            if after[-1] == NEWCOMERS:
                break
        for connection in Counted.made:
            connection.transport.close()
        server.close()
        await asyncio.sleep(0)
    return after


@pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop there")
def test_newcomers_do_not_wait_for_a_round_of_the_loop_each() -> None:
    """In the production loop. A round takes as long as all streams have something to do."""
    uvloop = pytest.importorskip("uvloop")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        after = runner.run(rounds(beside=True))
        alone = runner.run(rounds(beside=False))

    assert len(after) < 20
    # Those who are in get their turn between them.
    assert max(new - old for old, new in itertools.pairwise(after)) <= ACCEPTED_MAX + 1
    assert len(alone) >= NEWCOMERS, "uvloop accepts more than one a round: this is of no use now"
