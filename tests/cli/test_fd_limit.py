"""`turnwire serve` and the limit of its file descriptors."""

import resource
import shutil

import pytest

from gateway.served import Served
from turnwire.cli.fd_limit import PER_STREAM, RESERVED

pytestmark = pytest.mark.sockets

WARNING = "too few file descriptors for TURNWIRE_MAX_STREAMS"
NEEDED = 200 * PER_STREAM + RESERVED


@pytest.mark.parametrize(
    ("soft", "hard", "streams", "taken", "possible"),
    [
        (100, NEEDED + 100, 200, NEEDED, None),  # more is for others
        (NEEDED + 1, NEEDED + 1, 200, NEEDED + 1, None),
        (100, NEEDED - 1, 200, NEEDED - 1, 199),
        (100, 110, 0, 100, None),
    ],
)
async def test_it_takes_what_its_streams_need_or_says_that_it_cannot(
    soft: int, hard: int, streams: int, taken: int, possible: int | None
) -> None:
    prlimit = shutil.which("prlimit") or pytest.skip("no prlimit, which is a part of Linux")
    gateway = Served(max_streams=streams).under(prlimit, f"--nofile={soft}:{hard}")
    async with gateway:
        limits = resource.prlimit(gateway.pid, resource.RLIMIT_NOFILE)
        warned = gateway.logged(WARNING)

    assert limits == (taken, hard)
    if possible is None:
        assert warned == []
    else:
        assert [(line["limit"], line["needed"], line["streams_possible"]) for line in warned] == [
            (taken, NEEDED, possible)
        ]
