"""What a test needs of the machine.

A tool that is missing fails the test in CI, and skips it elsewhere; a right that is missing skips
it everywhere. The reason is told.
"""

import os
import shutil
from pathlib import Path
from typing import Final, NoReturn

import pytest

PACKAGES: Final = Path(__file__).parents[1] / "apt-packages.txt"


def program(name: str) -> str:
    """The path of an installed program. Debian keeps some where only root looks."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    return found or lacking(f"{name} is not installed (`make system` installs {PACKAGES.name})")


def root() -> None:
    if os.geteuid() != 0:
        lacking("this needs root")


def lacking(why: str) -> NoReturn:
    """Fail in CI, where nobody would see the skip; skip on a developer's machine."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


def forbidden(why: str) -> NoReturn:
    """Skip, in CI too: what may not be done in a container, no installation makes possible."""
    pytest.skip(f"not allowed here: {why}")
