"""What version 1 of the surface promised is still there: code of others was written for it.

`promised-1.txt` has each name, and each member of a class as `Name.member`. Names may come; then
`PROMISED=rewrite` adds them. If one must go, or a port demands a member more, `SURFACE` is another.
"""

import inspect
import os
from pathlib import Path
from typing import Final

from turnwire import dialect

FILE: Final = Path(__file__).parent / f"promised-{dialect.SURFACE}.txt"
PORTS: Final = ("Dialect", "AgentProtocol", "Operation")
"""What others implement: a member more is one that their code does not have."""


def members(name: str) -> set[str]:
    kind = getattr(dialect, name)
    if not isinstance(kind, type) or not kind.__module__.startswith("turnwire."):
        return set()
    of_class = {each for base in kind.__mro__[:-1] for each in _own(base)}
    return {f"{name}.{each}" for each in of_class if not each.startswith("_")}


def _own(base: type) -> set[str]:
    is_ours = base.__module__.startswith("turnwire.")
    return {*vars(base), *inspect.get_annotations(base)} if is_ours else set()


def handed_out() -> set[str]:
    return {each for name in dialect.__all__ for each in (name, *members(name))}


def promised() -> set[str]:
    if os.environ.get("PROMISED") == "rewrite":
        FILE.write_text("".join(f"{each}\n" for each in sorted(handed_out())))
    return set(FILE.read_text().split())


def test_nothing_that_was_promised_is_gone() -> None:
    assert len(promised()) > 300
    assert promised() - handed_out() == set()


def test_a_port_demands_no_more_than_it_did() -> None:
    for port in PORTS:
        assert members(port) == {each for each in promised() if each.startswith(f"{port}.")}
