"""What a turn said, told again from its parts to somebody who did not hear it.

A snapshot has the whole turn, but its text can be trusted only as page 5.7
says: R begins a text part after a tool with all the text so far, and its end
writes the final text over every text part. A and V keep them apart.
"""

from collections.abc import Sequence

from turnwire.core import harmless
from turnwire.core.bounds import PARTS_MAX
from turnwire.core.events import Event, TextDelta, ToolUpdate
from turnwire.dialects.session_agent.parts import Part
from turnwire.dialects.session_agent.wire import Snapshot


class Retelling:
    """The parts of one turn, and how far they are told."""

    def __init__(self, *, accumulates: bool) -> None:
        self._accumulates = accumulates
        """R."""
        self._told = 0

    def weave(
        self, snapshot: Snapshot, news: Sequence[Event], *, whole: bool
    ) -> tuple[list[Event], bool]:
        """The news of a snapshot, with the text that stands between its tools.

        Not `whole`: only up to the last tool, since the text after it may go on
        where the snapshot stops. Returns the events, and whether the text was
        told: not where it does not add up.
        """
        parts, _ = snapshot.taken_apart
        is_over = any(part.type == "finish" for part in parts)
        shown = [part for part in parts if part.type in {"text", "tool-call"}]
        tools = [place for place, part in enumerate(shown) if part.type == "tool-call"]
        end = len(shown) if whole else (tools[-1] + 1 if tools else 0)
        texts = _apart(shown, is_over=is_over) if self._accumulates else _as_is(shown)
        # At the end `content` is what came after the last tool. Before it, the places of parts
        # are those of the last snapshot only where none was left out at the beginning.
        is_all = len(parts) < PARTS_MAX
        trusted = is_over or (is_all and _adds_up(snapshot, texts[:end], whole=whole))
        moved = {event.call_id: event for event in news if isinstance(event, ToolUpdate)}
        told: list[Event] = []
        for place, part in enumerate(shown):
            if part.type == "tool-call":
                tool = moved.pop(part.call_id, None)
                told += () if tool is None else (tool,)
            elif trusted and self._told <= place < end and texts[place]:
                told.append(TextDelta(texts[place]))
        self._told = max(self._told, end)
        return [*told, *(event for event in news if not isinstance(event, ToolUpdate))], trusted


def last_calls(snapshot: Snapshot) -> frozenset[str]:
    """The calls that nothing was said between: the last ones, up to the text before them."""
    calls: list[str] = []
    for part in reversed(snapshot.taken_apart[0]):
        if part.type == "tool-call":
            calls.append(part.call_id)
        elif part.type == "text" and calls:
            break
    return frozenset(calls)


def _as_is(parts: Sequence[Part]) -> list[str]:
    return [harmless.string(part.text) or "" for part in parts]


def _apart(parts: Sequence[Part], *, is_over: bool) -> list[str]:
    """R's texts, each without what stood in the ones before it."""
    texts = _as_is(parts)
    places = [place for place, part in enumerate(parts) if part.type == "text"]
    if is_over and len(places) > 1 and len({texts[place] for place in places}) == 1:
        # The final text over all of them: it came after the last tool, the others are lost.
        for place in places[:-1]:
            texts[place] = ""
        return texts
    before = ""
    for place in places:
        so_far = texts[place]
        texts[place] = so_far.removeprefix(before)
        before = so_far
    return texts


def _adds_up(snapshot: Snapshot, texts: Sequence[str], *, whole: bool) -> bool:
    """Whether the parts say what the turn has said so far."""
    if not bytes(snapshot.parts).startswith(b"["):
        return False  # it is told for another reason than what was said (page 4.2)
    content = harmless.string(snapshot.content)
    said = "".join(texts)
    if not content:
        return True
    return content == said if whole else content.startswith(said)
