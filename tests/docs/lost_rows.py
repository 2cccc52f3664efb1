"""What the rows of a table of losses say, and whether it is so."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from turnwire.core.wire.frame_stats import FrameStats
from turnwire_lab.docs.lost import ALL, ANY, BY_NAME, NOTHING

Lost: TypeAlias = Mapping[tuple[str, str], str]
"""What becomes of each, by the type of the event and the field: `turnwire_lab.docs.lost`."""


def unlisted(
    known: Mapping[str, Iterable[str]], read: Mapping[str, Iterable[str]], lost: Lost
) -> list[str]:
    """What nobody reads and no row names, of the `known` types and fields."""
    found: list[str] = []
    for kind, fields in known.items():
        if (kind, ALL) in lost:
            continue
        if kind not in read:
            found.append(kind)
            continue
        missing = {*fields} - {*read[kind]}
        found += [
            f"{kind} {field}"
            for field in sorted(missing)
            if (kind, field) not in lost and (ANY, field) not in lost
        ]
    return found


def invented(known: Mapping[str, Iterable[str]], lost: Lost) -> list[str]:
    """Rows for what the vocabulary has not."""
    anywhere = {field for fields in known.values() for field in fields}
    return [
        f"{kind} {field}"
        for kind, field in lost
        if (field not in anywhere if kind == ANY else kind not in known)
        or (kind != ANY and field != ALL and field not in known[kind])
    ]


def claims(lost: Lost) -> set[tuple[str, str]]:
    """The rows that say where something is counted."""
    return {row for row, becomes in lost.items() if not becomes.startswith(NOTHING)}


def silent(lost: Lost) -> Iterator[tuple[str, str]]:
    """The rows that say that nothing is counted, of a field of one type."""
    for (kind, field), becomes in lost.items():
        if becomes.startswith(NOTHING) and kind != ANY and field != ALL:
            yield kind, field


def is_counted(stats: FrameStats, kind: str, becomes: str) -> bool:
    """Whether these counters have what the row for a type says."""
    if becomes.startswith(BY_NAME):
        return kind in stats.left_out or kind in stats.unrecognised
    found = re.match(r"`([^`]+)`( of the log line)?", becomes)
    assert found is not None, f"the row for {kind} names no word"
    word, is_field = found.groups()
    return bool(getattr(stats, word)) if is_field else word in stats.left_out
