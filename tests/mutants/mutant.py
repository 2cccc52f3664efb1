"""What a planted fault is."""

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
