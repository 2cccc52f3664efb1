"""A planted fault that is a change to the text of the source. New ones are a `fault.Fault`."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """`old`, found exactly once in `file` (below src/turnwire), becomes `new`.

    `tests` (below tests/) are those that are asked; none: all of core/ and dialects/, and apart
    from them the properties.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        return self.file
