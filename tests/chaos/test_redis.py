"""The turns of a user, counted by several replicas in a real Redis, and without it."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.waiting import until
from turnwire.errors import TooManyTurns
from turnwire.web.rate_limit import Rates
from turnwire_lab.process import free_port


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """A real Redis on a free port."""
    server = shutil.which("redis-server")
    assert server is not None, "redis-server is missing: `make system` installs it"
    port = free_port()
    command = [
        server,
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(tmp_path),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield f"redis://127.0.0.1:{port}", process
        finally:
            process.kill()


def _answers(url: str) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


@pytest.mark.fault("the Redis that counts turns is gone", "every prompt is accepted")
@pytest.mark.sockets
async def test_replicas_count_together_and_a_redis_that_is_gone_is_no_outage(
    redis: tuple[str, "subprocess.Popen[bytes]"],
) -> None:
    url, process = redis
    await until(lambda: _answers(url))
    one, other = Rates(2, url), Rates(2, url)

    await one.take("ann")
    await other.take("ann")
    for rates in (one, other):
        with pytest.raises(TooManyTurns):
            await rates.take("ann")
    process.kill()
    process.wait()

    await one.take("ann")
    await other.take("ann")
