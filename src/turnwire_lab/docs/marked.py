"""Pages with marked places: `<!-- generated: NAME -->` to `<!-- end -->`."""

import re
from collections.abc import Mapping

_PLACE = re.compile(r"(<!-- generated: ([a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(page: str, tables: Mapping[str, str]) -> tuple[str, set[str]]:
    """The page with its tables made anew, and the names of the tables it has.

    Raises:
        KeyError: it marks a table that does not exist.

    """
    used: set[str] = set()

    def fill(place: re.Match[str]) -> str:
        used.add(place[2])
        return f"{place[1]}\n{tables[place[2]]}\n{place[3]}"

    return _PLACE.sub(fill, page), used
