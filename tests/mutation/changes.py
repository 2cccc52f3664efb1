"""Every small change that can be made to the functions of some files, and a sample of them."""

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mutation.operators import changed
from mutation.place import Place, functions, places


class Change(NamedTuple):
    """A mutant: `before` is `after`, in one function.

    The n-th of those that read the same in the function has the `nth`. So no line is in the name
    of a change, and it stays the same one when code around it moves.
    """

    file: str
    function: str
    before: str
    after: str
    nth: int
    operator: str
    lines: frozenset[int]
    """If a test runs none of these lines, it cannot notice the change."""
    path: Path
    tree: ast.Module
    place: Place
    new: ast.AST | None

    @property
    def name(self) -> str:
        nth = f" ({self.nth})" if self.nth > 1 else ""
        return f"{self.file}:{self.function}: {self.before} -> {self.after}{nth}"

    @property
    def line(self) -> int:
        node = self.place.node
        return getattr(getattr(node, "pattern", node), "lineno", min(self.lines))


def changes(files: Iterable[Path], source: Path) -> Iterator[Change]:
    """All that can be made in these files, which are below `source`."""
    for path in files:
        tree = ast.parse(path.read_bytes())
        for function, its_tree in functions(tree.body):
            seen: Counter[tuple[str, str]] = Counter()
            for place, lines in places(its_tree):
                for operator, new in changed(place):
                    before, after = _in_words(place.node), _in_words(new)
                    seen[before, after] += 1
                    yield Change(
                        file=path.relative_to(source).as_posix(),
                        function=function,
                        before=before,
                        after=after,
                        nth=seen[before, after],
                        operator=operator,
                        lines=lines,
                        path=path,
                        tree=tree,
                        place=place,
                        new=new,
                    )


def sample(every: Iterable[Change], count: int, seed: int) -> list[Change]:
    """So many of them, all with the same chance.

    The seed gives each a number by its name, and the least are drawn. So most of a sample stays
    the same when the code changes a little.
    """

    def number(change: Change) -> bytes:
        return hashlib.sha256(f"{seed} {change.name}".encode()).digest()

    return sorted(every, key=number)[:count]


def _in_words(node: ast.AST | None) -> str:
    """The source of it in one line; of what holds other statements, its head."""
    match node:
        case None:
            return "nothing"
        case ast.match_case(pattern, guard):
            asked = f" if {ast.unparse(guard)}" if guard else ""
            return f"case {ast.unparse(pattern)}{asked}"
        case ast.ExceptHandler(body=[ast.Raise(exc=None)]):
            return "raise"
        case ast.ExceptHandler(type=kind):
            return f"except {ast.unparse(kind) if kind else ''}"
        case ast.For(target, iterated) | ast.AsyncFor(target, iterated):
            return f"for {ast.unparse(target)} in {ast.unparse(iterated)}"
        case ast.comprehension(target, iterated):
            return f"for {ast.unparse(target)} in {ast.unparse(iterated)}"
        case _:
            return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
