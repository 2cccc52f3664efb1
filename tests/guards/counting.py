"""What a call costs in units that no machine changes: bytecodes of Python, bytes allocated.

The interpreter tells each bytecode that it runs to whoever traces, in its plain form whatever it
has made of it since. So the count depends on the code and on Python's minor version, and on
nothing else.
"""

import gc
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, Final

import jwt
import starlette
import websockets

import turnwire

PACKAGES: Final = (turnwire, websockets, starlette, jwt)
"""Whose code is counted: ours, and what we might call more of. Not the loop's or the log's."""


def _folders(packages: Iterable[ModuleType]) -> tuple[str, ...]:
    """As their code names them: a part of a path would count more in a folder of such a name."""
    return tuple(f"{Path(str(package.__file__)).parent}{os.sep}" for package in packages)


class Count:
    opcodes = 0


@contextmanager
def counted(packages: Iterable[ModuleType] = PACKAGES) -> Iterator[Count]:
    """Count the bytecodes that run within, in this thread, in frames that begin within."""
    count = Count()
    folders = _folders(packages)
    known: dict[str, bool] = {}

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if event == "opcode":
            count.opcodes += 1
            return trace
        name = frame.f_code.co_filename
        ours = known.get(name)
        if ours is None:
            ours = known[name] = name.startswith(folders)
        if not ours:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return trace

    before = sys.gettrace()  # coverage has one
    gc.disable()  # what the collector calls back would be counted
    sys.settrace(trace)
    try:
        yield count
    finally:
        sys.settrace(before)
        gc.enable()


def opcodes(call: Callable[[], object], packages: Iterable[ModuleType] = PACKAGES) -> int:
    with counted(packages) as count:
        call()
    return count.opcodes


def peak_bytes(call: Callable[[], object]) -> int:
    """How much more memory than before the call took at its highest."""
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
