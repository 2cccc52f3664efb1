"""Flow control of a connection: when it is read, and when it may be written."""

import asyncio

from turnwire.web.server.flow import Flow


class Noting(asyncio.Transport):
    """Notes what is done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def pause_reading(self) -> None:
        self.done.append("pause")

    def resume_reading(self) -> None:
        self.done.append("resume")

    def is_closing(self) -> bool:
        return "close" in self.done

    def close(self) -> None:
        self.done.append("close")


def test_what_is_held_is_not_read_though_the_server_resumes() -> None:
    transport = Noting()
    flow = Flow(transport)

    flow.hold(is_held=True)
    flow.resume_reading()
    assert transport.done == ["pause"]

    flow.hold(is_held=False)
    assert transport.done == ["pause", "resume"]


def test_what_the_server_paused_meanwhile_stays_paused() -> None:
    transport = Noting()
    flow = Flow(transport)
    flow.hold(is_held=True)
    flow.pause_reading()

    flow.hold(is_held=False)
    assert "resume" not in transport.done

    flow.resume_reading()
    assert transport.done[-1] == "resume"


def test_a_connection_that_closes_is_not_read_again() -> None:
    transport = Noting()
    flow = Flow(transport)
    flow.hold(is_held=True)
    transport.close()

    flow.hold(is_held=False)

    assert transport.done == ["pause", "close"]


async def test_a_write_waits_only_while_writing_is_paused() -> None:
    flow = Flow(Noting())
    await flow.drain()

    flow.pause_writing()
    flow.pause_writing()
    waiting = asyncio.create_task(flow.drain())
    await asyncio.sleep(0)
    assert not waiting.done()

    flow.resume_writing()
    flow.resume_writing()
    await waiting
