"""A page docs/start-*.md is done word for word, in one shell, with a fresh clone.

The clone is a folder of links to this tree, and what `make` would install is installed already. The
ports are others than on the page.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Final

from gateway.clients import is_whole, said
from gateway.needed import lacking, program
from support.shell import run
from turnwire_lab.process import free_port, inherited

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(path.stem for path in DOCS.glob("start-*.md"))
BLOCK: Final = re.compile(r"(?:<!-- (.+?) -->\n)?```sh\n(.*?)```", re.DOTALL)
PORTS: Final = re.compile(
    r"(?<=127\.0\.0\.1:)\d+|(?<=127\.0\.0\.1\", )\d+|(?<=--port )\d+|(?<=scripted_model\.py )\d+"
)
REFUSED: Final = re.compile(r'^.*" [45]\d\d .*$', re.MULTILINE)
"""A line of a server's log about a request that it refused."""
GATEWAY_PORT: Final = "8787"
AGENT_PORT: Final = "8765"
"""What the second agent and the agent runtime listen on, unless they are given another one."""
MARK: Final = "-- end of block --"


def text(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def put_commands(folder: Path) -> None:
    """Put `git` and `make` in front of the real ones: neither downloads anything."""
    folder.mkdir()
    entries = " ".join(shlex.quote(str(path)) for path in ROOT.iterdir() if path.name != ".git")
    real = shlex.quote(shutil.which("make") or lacking("make is not installed"))
    scripts = {
        "git": f'test "$1" = clone && mkdir "${{2##*/}}" && ln -s {entries} "${{2##*/}}"',
        "make": f'exec {real} -n -C {shlex.quote(str(ROOT))} "$@" > /dev/null',
    }
    for name, script in scripts.items():
        (folder / name).write_text(f"#!/bin/bash\n{script}\n")
        (folder / name).chmod(0o755)


def left(clone: Path) -> list[str]:
    """What git would take as a change of who reads the page: what is no link, and not ignored."""
    own = [path for path in clone.iterdir() if not path.is_symlink()]
    made = sorted(f"{path.name}/" if path.is_dir() else path.name for path in own)
    git = [program("git"), "-C", str(ROOT), "check-ignore", "--no-index", "--stdin"]
    told = subprocess.run(git, input="\n".join(made), capture_output=True, text=True, check=False)
    return [name for name in made if name not in told.stdout.splitlines()]


def do(page: str, folder: Path) -> None:
    """Paste its lines, and compare what they print with what stands above each block."""
    blocks = BLOCK.findall(text(page))
    for environment in re.findall(r"\.venv/agents/[\w-]+", text(page)):
        (ROOT / environment).is_dir() or lacking(f"{environment} is not installed (`make .agents`)")
    put_commands(folder / "commands")
    ports = {GATEWAY_PORT: str(free_port()), AGENT_PORT: str(free_port())}
    ports |= {port: str(free_port()) for port in PORTS.findall(text(page)) if port not in ports}
    code = f"\necho {shlex.quote(MARK)}\n".join(block for _, block in blocks)
    code = PORTS.sub(lambda found: ports[found[0]], code)
    code = code.replace(
        " serve my_agent:agent ", f" serve my_agent:agent --listen 127.0.0.1:{ports[AGENT_PORT]} "
    )
    environ = inherited() | {
        "PATH": f"{folder / 'commands'}{os.pathsep}{os.environ['PATH']}",
        "PORT": ports[AGENT_PORT],
        "TURNWIRE_PORT": ports[GATEWAY_PORT],
        "TURNWIRE_METRICS_PORT": "0",
    }
    # Each failure ends this shell, and what a signal ended has failed.
    code = code.replace("; wait $gateway\n", "; wait $gateway || true\n")
    ran = run(f"{code}\nwait", folder, environ)

    changes = left(folder / "turnwire")
    assert changes == [], changes
    logs = "".join(log.read_text() for log in sorted(folder.glob("turnwire/*.log")))
    told = ran.stderr + logs
    shown = dict(zip([expected for expected, _ in blocks], ran.stdout.split(MARK), strict=False))
    assert "The settings are fine." in ran.stdout, told
    assert REFUSED.findall(ran.stdout + told) == []
    endings = [expected for expected in shown if expected.startswith("ends with: ")]
    assert len(endings) == 1
    for expected, output in shown.items():
        how, _, words = expected.partition(": ")
        if how == "shows":
            assert words in output, told
        elif how == "ends with":
            stream = output[output.index("event:") :]
            assert said(stream).endswith(words), told
            assert is_whole(stream)
