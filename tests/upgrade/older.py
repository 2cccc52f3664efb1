"""The gateway of an older commit: its wheel, where it is installed, and a process of it.

The wheel is kept, since no registry has it. It was made once, of commit 9802916, without the lab,
which that commit had in the same wheel:

    git archive 9802916 | tar -x -C /tmp/older && cd /tmp/older
    sed -i -e 's|, "src/turnwire_lab"]|]|' -e '/^turnwire-lab = /d' pyproject.toml
    SOURCE_DATE_EPOCH=1795391704 python -m hatchling build --target wheel --directory .

hatchling 1.33.0 makes the same bytes each time. The wheel's libraries are those of today's lock: it
is installed into a folder that comes first on the path.
"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gateway.process import Process
from turnwire_lab.process import inherited

WHEEL: Final = Path(__file__).parent / "turnwire-0.1.0-py3-none-any.whl"
SHA256: Final = "edf86e30592887a5635565bd950ea6f6b8c6580ec8279d73933561c6f0d88873"


def install(folder: Path) -> None:
    """Put the older gateway into a folder, without an index and without its libraries."""
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    options = ("--no-deps", "--no-index", "--no-compile", "--target", str(folder))
    subprocess.run([*pip, *options, str(WHEEL)], check=True)


def environ(settings: Mapping[str, object], folder: Path | None) -> dict[str, str]:
    """An environment with these settings alone: of the older gateway in `folder`, or of ours."""
    given = {f"TURNWIRE_{name.upper()}": str(value) for name, value in settings.items()}
    return inherited() | given | ({} if folder is None else {"PYTHONPATH": str(folder)})


def ran(arguments: tuple[str, ...], env: Mapping[str, str], folder: Path) -> tuple[int, str]:
    """Run Python in a folder to its end: exit code, and all that it wrote."""
    command = (sys.executable, *arguments)
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Version(Process):
    """`async with Version(settings, folder) as gateway:` is one of the two that listens."""

    def __init__(self, settings: Mapping[str, object], folder: Path | None) -> None:
        super().__init__()
        self._env = environ(settings, folder)
