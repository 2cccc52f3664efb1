"""A program that writes lines, behind the bridge that turnwire has."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pi_gateway import Gateway

TOKEN: Final = "a-token-of-these-tests"
PROGRAM: Final = Path(__file__).parent / "scripted_pi.py"


@contextmanager
def bridged(folder: Path, lines: Sequence[bytes]) -> Iterator[Gateway]:
    """A gateway before it. The last of these lines has no end."""
    file = folder / "lines.jsonl"
    file.write_bytes(b"\n".join(lines))
    environ = {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
    with subprocess.Popen(
        [
            *(sys.executable, "-m", "turnwire", "bridge", "--port=0", "--"),
            *(sys.executable, PROGRAM, file),
        ],
        env=environ | {"TURNWIRE_AGENT_TOKEN": TOKEN},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            first = process.stdout.readline()
            port = int(first.partition(" is behind port ")[2].partition(".")[0])
            auth = {"agent_auth": "service", "agent_token": TOKEN}
            with Gateway(port, "pi_dialect:Pi", **auth) as gateway:
                yield gateway
        finally:
            process.terminate()
            process.wait(10)
