"""What is streamed between two commits, as few deltas as it can be."""

from collections.abc import Sequence
from typing import Final

from turnwire_agent.session.deltas import Delta, InputAdded, ReasoningAdded, TextAdded

_WORDS: Final = (TextAdded, ReasoningAdded, InputAdded)


def joined(deltas: Sequence[Delta]) -> tuple[Delta, ...]:
    """Return the same text in the same order, neighbours of one block as one delta."""
    if len(deltas) == 1:
        return (deltas[0],)
    kinds = set(map(type, deltas))
    if len(kinds) == 1 and kinds <= {TextAdded, ReasoningAdded}:  # nearly always
        return (_one(deltas),)
    runs: list[list[Delta]] = []
    for delta in deltas:
        if runs and _continues(runs[-1][-1], delta):
            runs[-1].append(delta)
        else:
            runs.append([delta])
    return tuple(_one(run) for run in runs)


def size_of(delta: Delta) -> int:
    """Return about how many bytes a delta has in memory."""
    if isinstance(delta, _WORDS):
        return len(delta.text) + 64
    return (
        sum(len(bytes(v) if isinstance(v, bytes | memoryview) else str(v)) for v in _values(delta))
        + 64
    )


def _values(delta: Delta) -> list[object]:
    return [getattr(delta, name) for name in delta.__struct_fields__]


def _continues(before: Delta, delta: Delta) -> bool:
    if isinstance(delta, TextAdded | ReasoningAdded):
        return type(before) is type(delta)
    if isinstance(delta, InputAdded):
        return isinstance(before, InputAdded) and before.call_id == delta.call_id
    return False


def _one(run: Sequence[Delta]) -> Delta:
    first = run[0]
    if len(run) == 1:
        return first
    text = "".join(each.text for each in run)  # type: ignore[union-attr] # only those have runs
    if isinstance(first, InputAdded):
        return InputAdded(first.call_id, first.tool, text)
    return type(first)(text)  # type: ignore[call-arg] # text or reasoning
