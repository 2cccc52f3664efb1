"""Dialects that others wrote: modules and packages that a test puts on the path of imports."""

import importlib
from pathlib import Path
from typing import Final

import pytest

from turnwire.config import dialect_loading

CODE: Final = """
from turnwire.dialect import ConnectRequest, OneResponse, PromptsOnly, WireSchema

class Turn(OneResponse):
    def connect_request(self):
        return ConnectRequest(method="POST")

    def receive_frame(self, frame, now):
        return frame.decode()

class Plugged(PromptsOnly):
    name = "plugged"
    schema = WireSchema(frames=())
    {more}

    def prompt(self, request, member=None):
        return Turn(request.prompt_id)

plugged = Plugged()
"""


class Plugs:
    """A folder on the path. Each module has a name of its own: Python imports a name once."""

    count = 0

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        monkeypatch.syspath_prepend(folder)
        self.forget()

    def module(self, code: str) -> str:
        """Write a module, and return its name."""
        Plugs.count += 1
        name = f"plug_{Plugs.count}"
        (self._folder / f"{name}.py").write_text(code)
        importlib.invalidate_caches()
        return name

    def dialect(self, more: str = "pass", kind: str = "Plugged") -> str:
        """Write a module with a dialect that has `more` in its class, and return its place."""
        return f"{self.module(CODE.replace('{more}', more))}:{kind}"

    def package(self, name: str, **points: str) -> None:
        """Install a package with these entry points, whose underscores stand for dashes."""
        metadata = self._folder / f"{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = (f"{point.replace('_', '-')} = {place}" for point, place in points.items())
        text = "\n".join((f"[{dialect_loading.GROUP}]", *lines))
        (metadata / "entry_points.txt").write_text(text + "\n")
        self.forget()

    @staticmethod
    def forget() -> None:
        """Read the entry points anew."""
        importlib.invalidate_caches()
        dialect_loading._installed.cache_clear()
        dialect_loading._others.cache_clear()
