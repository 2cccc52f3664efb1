"""A change in the functions of a process that has imported the code already.

A function keeps its identity: it gets other code. So whoever has imported it, holds it in a table
or has it as a default or a callback runs the changed one. What was made with it before, when
modules were imported, stays as it is; caches are emptied.
"""

import ast
import functools
import gc
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from mutation.changes import Change


class Living:
    """The functions and caches of a package, as they stand in this process."""

    def __init__(self, source: Path) -> None:
        self._functions: dict[Path, list[FunctionType]] = {}
        self._caches: list[Any] = []
        for found in gc.get_objects():
            if isinstance(found, FunctionType):
                path = Path(found.__code__.co_filename)
                if path.is_relative_to(source):
                    self._functions.setdefault(path, []).append(found)
            elif isinstance(found, functools._lru_cache_wrapper):
                code = getattr(found.__wrapped__, "__code__", None)
                if code is not None and Path(code.co_filename).is_relative_to(source):
                    self._caches.append(found)

    def plant(self, change: Change) -> None:
        """Make it; there is no way back, so this is for a process that ends soon.

        Raises:
            LookupError: no function in this process is another with it.

        """
        change.place.put(change.new)
        tree = ast.fix_missing_locations(change.tree)
        module = compile(tree, str(change.path), "exec", dont_inherit=True)
        codes = {_where(code): code for code in _within(module)}
        changed = 0
        for function in self._functions.get(change.path, ()):
            code = codes.get(_where(function.__code__))
            if code is not None and code != function.__code__:
                if len(code.co_freevars) != len(function.__code__.co_freevars):
                    raise LookupError(f"{change.name}: its closure is another")
                function.__code__ = code
                changed += 1
        if not changed:
            raise LookupError(f"{change.name}: no function has it")
        self.empty_caches()

    def empty_caches(self) -> None:
        for cache in self._caches:
            cache.cache_clear()


def _where(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _within(code: CodeType) -> Iterator[CodeType]:
    for held in code.co_consts:
        if isinstance(held, CodeType):
            yield held
            yield from _within(held)
