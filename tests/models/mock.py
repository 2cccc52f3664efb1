"""aimock, a server of another make that plays model hosts, as a process on this machine."""

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from gateway.needed import lacking, program

HERE: Final = Path(__file__).parent
_CLI: Final = HERE / "node_modules/@copilotkit/aimock/dist/cli.js"
_LISTENS: Final = re.compile(r"listening on (http://\S+)")


@contextmanager
def mock(fixtures: Path = HERE / "fixtures.json") -> Iterator[str]:
    """Run it. It answers at the URL that is yielded, as the fixtures say."""
    if not _CLI.exists():
        lacking("aimock is not installed (`make tools` installs it)")
    command = [program("node"), str(_CLI), "-p", "0", "-f", str(fixtures)]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield _listening(process.stdout)
        finally:
            process.kill()


def _listening(log: IO[str]) -> str:
    seen = ""
    for line in log:
        seen += line
        if found := _LISTENS.search(line):
            # It logs each request: somebody must read that, or it waits.
            threading.Thread(target=log.read, daemon=True).start()
            return found[1]
    raise AssertionError(f"aimock ended: {seen}")
