"""A thread for files: what it takes, and who waits for it."""

import threading

import pytest

from turnwire.relay.file_writer import FileWriter

pytestmark = pytest.mark.sockets


async def test_nobody_waits_for_a_thread_that_never_began() -> None:
    await FileWriter().aclose()


def test_without_a_thread_nothing_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    filing = FileWriter()
    done = threading.Event()

    def fails(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as without:
        without.setattr(threading.Thread, "start", fails)  # the library's, no code of ours
        assert not filing.submit(done.set)
    assert filing.submit(done.set)

    assert done.wait(10)


async def test_a_job_that_hangs_is_not_waited_for_for_ever() -> None:
    filing, go = FileWriter(), threading.Event()
    assert filing.submit(lambda: _wait(go))
    await filing.aclose(timeout_s=0.01)
    go.set()
    await filing.aclose()


def _wait(go: threading.Event) -> None:
    go.wait(10)
