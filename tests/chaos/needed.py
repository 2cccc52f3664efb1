"""What a test needs of the machine. In CI a lack of it fails; elsewhere it skips, and says why."""

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
        lacking("network namespaces need root")


def lacking(why: str) -> NoReturn:
    """Fail in CI, where nobody would see the skip; skip on a developer's machine."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)
