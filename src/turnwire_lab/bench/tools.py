"""The load tools: programs in C, built at first use and kept in the cache of the user."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

NATIVE: Final = Path(__file__).parent / "native"
_FLAGS: Final = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wno-format-nonliteral")
_BUILD_S: Final = 60


class Tools(Struct, frozen=True):
    """Commands to which arguments are added."""

    agent: Sequence[str]
    client: Sequence[str]


class NotBuiltError(Exception):
    """There is no compiler, or the compiler refuses the sources; the text says which."""


def tools(*, compiler: str | None = None, cache: Path | None = None) -> Tools:
    """The tools, built if they are not yet.

    Raises:
        NotBuiltError: there is no compiler, or it refuses.

    """
    compiler = compiler or os.environ.get("CC", "cc")
    found = shutil.which(compiler)
    if found is None:
        raise NotBuiltError(
            f"the load tools need a C compiler, and {compiler!r} is none; on Debian: "
            "apt-get install gcc libc6-dev"
        )
    folder = _folder(cache or default_cache(), found)
    if not folder.exists():
        _build(found, folder)
    return Tools(agent=(str(folder / "agent"),), client=(str(folder / "client"),))


def default_cache() -> Path:
    """Where the system keeps what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "turnwire-bench"


def _folder(cache: Path, compiler: str) -> Path:
    """One for each state of the sources, so that nothing stale is run."""
    seen = hashlib.sha256(" ".join((compiler, *_FLAGS)).encode())
    for source in sorted(NATIVE.iterdir()):
        seen.update(source.name.encode() + source.read_bytes())
    return cache / seen.hexdigest()[:16]


def _build(compiler: str, folder: Path) -> None:
    """Both programs or neither: another run of the benchmark may be building them too."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        made = Path(name) / "made"
        made.mkdir()
        for program in ("agent", "client"):
            ran = subprocess.run(  # noqa: S603 (the user's compiler, our sources)
                [compiler, *_FLAGS, "-o", str(made / program), str(NATIVE / f"{program}.c")],
                capture_output=True,
                text=True,
                timeout=_BUILD_S,
                check=False,
            )
            if ran.returncode:
                raise NotBuiltError(ran.stderr)
        try:
            made.rename(folder)
        except OSError:  # the other one was first
            if not folder.exists():
                raise
