"""What the events of our responses tell, one after the other: texts, calls, sources, files.

`Progress.take` returns the events of one event of the wire. It knows nothing of where a response
begins and how it ends (`turn`), and goes on from one response of a turn to the next.
"""

import re
from collections.abc import Sequence
from typing import Final, assert_never

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import KEPT_BYTES_MAX, keep
from turnwire.core.events import Event, FilePart
from turnwire.core.wire import call_ids
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.sources import Sources
from turnwire.dialects.openai_responses import calls, errors, frames, items, text
from turnwire.dialects.openai_responses.asked import Asked
from turnwire.dialects.openai_responses.calls import Calls
from turnwire.dialects.openai_responses.frames import Content
from turnwire.dialects.openai_responses.items import Item
from turnwire.dialects.openai_responses.kept_items import KeptItems
from turnwire.dialects.openai_responses.text import Texts

PICTURE_MAX: Final = 4_194_304
"""Longest URL of a picture that is shown, in characters."""

_PICTURE: Final = re.compile(r"https?://|data:image/", re.IGNORECASE)

ITEMS_MAX: Final = 4_096
"""Most items that are known by their ids."""

_ITEM_ID_BYTES: Final = 128
"""What is kept of such an item, about."""


class Progress:
    """What a turn tells the client."""

    def __init__(self, turn_id: str, frame_stats: FrameStats, *, is_kept: bool) -> None:
        """`is_kept`: the items are kept, since the agent keeps none."""
        self.calls = Calls(turn_id)
        self.texts = Texts(frame_stats)
        self.usage: Raw | None = None
        """The last usage that came: later ones replace it, and are never added."""
        self.asked = Asked(self.calls, frame_stats)
        """The approvals that this response asked for."""
        self.items = KeptItems(is_whole=is_kept)
        self._indexes: dict[str, int] = {}
        """The indexes of items, by their ids; of our own if their server sends none."""
        self._own_count = 0
        self._sources = Sources(frame_stats)
        self._frame_stats = frame_stats

    @property
    def kept_bytes(self) -> int:
        """About how many bytes of the agent's are kept."""
        ids = len(self._indexes) * _ITEM_ID_BYTES
        return self.items.kept_bytes + self.calls.kept_bytes + self.asked.kept_bytes + ids

    def forget(self) -> None:
        """Keep no item any more: no other response can follow."""
        self.items.forget()

    def next_response(self) -> None:
        """Another response of this turn begins."""
        self._indexes.clear()
        self.calls.next_response()
        self.texts.next_response()
        self.items.next_response()

    def take(self, frame: Content, size: int) -> list[Event]:
        """Return the events of an event of our response of this `size` in bytes."""
        match frame:
            case frames.TextDelta(delta, index, part, name):
                return self.texts.write((text.TEXT, self._at(index, name), part), delta)
            case frames.TextDone(whole, index, part, name):
                return self.texts.end((text.TEXT, self._at(index, name), part), whole)
            case frames.RefusalDelta(delta, index, part, name):
                return self.texts.write((text.REFUSAL, self._at(index, name), part), delta)
            case frames.RefusalDone(whole, index, part, name):
                return self.texts.end((text.REFUSAL, self._at(index, name), part), whole)
            case frames.SummaryDelta(delta, index, part, name):
                return self.texts.write((text.SUMMARY, self._at(index, name), part), delta)
            case frames.SummaryDone(whole, index, part, name):
                return self.texts.end((text.SUMMARY, self._at(index, name), part), whole)
            case frames.ReasoningDelta(delta, index, part, name):
                return self.texts.write((text.REASONING, self._at(index, name), part), delta)
            case frames.ReasoningDone(whole, index, part, name):
                return self.texts.end((text.REASONING, self._at(index, name), part), whole)
            case frames.ArgumentsDelta(delta, index, name):
                return self._shown(self.calls.add(self._at(index, name), delta))
            case frames.McpArgumentsDelta(delta, index, name):
                return self._shown(self.calls.add(self._at(index, name), delta))
            case frames.InputDelta(delta, index, name):
                return self._shown(self.calls.add(self._at(index, name), delta))
            case frames.ArgumentsDone(whole, index, name):
                return self._shown(self.calls.end_input(self._at(index, name), whole))
            case frames.McpArgumentsDone(whole, index, name):
                return self._shown(self.calls.end_input(self._at(index, name), whole))
            case frames.InputDone(whole, index, name):
                return self._shown(self.calls.end_input(self._at(index, name), whole))
            case frames.ItemAdded(raw, index):
                item = self._read(raw)
                return [] if item is None else self._added(self._at_item(index, item), item, raw)
            case frames.ItemDone(raw, index):
                self.items.add(raw)
                item = self._read(raw)
                return [] if item is None else self._done(self._at_item(index, item), item)
            case frames.AnnotationAdded(raw):
                self._cite(items.annotation(raw))
                return []
            case frames.CodeDelta() | frames.CodeDone():
                return []
            case frames.PartialImage() | frames.AudioDelta() | frames.TranscriptDelta():
                kind = str(type(frame).__struct_config__.tag)
                self._frame_stats.count_left_out(kind, size)
                return []
            case _:
                assert_never(frame)

    def end_response(self, output: Raw) -> list[Event]:
        """Take all items, as the last event has them: what it alone has is told now."""
        is_all_new = not self.items.has_new
        new: list[Event] = []
        for index, raw in enumerate(items.raw_list(output)):
            item = self._read(raw)
            events = [] if item is None else self._repeated(index, item)
            if events or is_all_new:
                self.items.add(raw)
            new += events
        for index, added in self.asked.only_added:
            item = self._read(Raw(added))
            events = [] if item is None else self._done(index, item)
            if events:
                self.items.add(Raw(added))
            new += events
        return new

    def note_usage(self, usage: Raw) -> None:
        if bytes(usage).startswith(b"{") and len(usage) <= KEPT_BYTES_MAX:
            self.usage = usage.copy()

    def finish(self) -> Sequence[Event]:
        """The turn is over. Return what waited for its end."""
        return self._sources.take()

    def _at(self, index: int, item_id: str) -> int:
        """The index of an item; one of our own, below 0, if its server sends none."""
        if index >= 0:
            return index
        item_id = _short(item_id)
        if item_id and item_id not in self._indexes:
            keep(self._indexes, item_id, text.NO_INDEX - 1 - self._own_count, ITEMS_MAX)
            self._own_count += 1
        return self._indexes.get(item_id, text.NO_INDEX)

    def _at_item(self, index: int, item: Item) -> int:
        """The index of an item, by which events that have its id alone find it."""
        item_id = _item_id(item)
        if index < 0 or not item_id or items.is_output(item):  # it may have the id of its call
            return self._at(index, item_id)
        item_id = _short(item_id)
        if self._indexes.get(item_id, 0) < 0:  # its deltas came without an index
            return self._indexes[item_id]
        keep(self._indexes, item_id, index, ITEMS_MAX)
        return index

    def _read(self, raw: Raw) -> Item | None:
        item = items.read(raw)
        if item is None:
            self._frame_stats.count_left_out("item", len(raw))
        return item

    def _added(self, index: int, item: Item, raw: Raw) -> list[Event]:
        if item.type == items.APPROVAL:
            self.asked.add(index, raw)
        elif items.is_call(item):
            return self._shown(self.calls.begin(index, item))
        elif items.is_output(item) and items.word(item.status) != "in_progress":
            # Some servers send an empty one before the output itself.
            is_whole = items.has_output(item) or items.is_failed(item)
            return self._output(item) if is_whole else []
        return []

    def _done(self, index: int, item: Item, *, is_repeated: bool = False) -> list[Event]:
        match item.type:
            case items.MESSAGE:
                return self._message(index, item, is_repeated=is_repeated)
            case items.REASONING:
                return self._reasoning(index, item, is_repeated=is_repeated)
            case items.APPROVAL:
                return self._shown(self.asked.end(index, item))
            case _ if items.is_output(item):
                return self._output(item)
            case _ if items.is_call(item):
                return self._call_done(index, item)
            case items.LIST_OF_TOOLS if errors.is_error(item.error):
                self._frame_stats.count_left_out("list of tools that failed", 0)
                return []
            case _:
                self._frame_stats.count_left_out("item", 0)
                return []

    def _repeated(self, index: int, item: Item) -> list[Event]:
        """What an item of the list of all items adds. Its index there may be another one."""
        index = self._indexes.get(_short(_item_id(item)), index)
        if items.is_call(item) and self.calls.is_repeated(index, item):
            return []
        return self._done(index, item, is_repeated=True)

    def _message(self, index: int, item: Item, *, is_repeated: bool) -> list[Event]:
        found: list[tuple[str, str]] = []
        for part in items.parts(item.content, self._left_out_part):
            texts = [
                (kind, whole)
                for kind, raw in ((text.TEXT, part.text), (text.REFUSAL, part.refusal))
                if (whole := safe_json.string(raw)) is not None
            ]
            if not texts:
                self._left_out_part(Raw())
            found += texts
            for annotation in items.raw_list(part.annotations):
                self._cite(items.annotation(annotation))
        return self.texts.end_item(index, found, is_repeated=is_repeated)

    def _reasoning(self, index: int, item: Item, *, is_repeated: bool) -> list[Event]:
        new: list[Event] = []
        if not is_repeated and safe_json.string(item.encrypted_content):
            size = len(item.encrypted_content)
            self._frame_stats.count_left_out("encrypted_content", size)
        for kind, raw in ((text.SUMMARY, item.summary), (text.REASONING, item.content)):
            found: list[tuple[str, str]] = []
            for part in items.parts(raw, self._left_out_part):
                if (whole := safe_json.string(part.text)) is None:
                    self._left_out_part(part.text)
                else:
                    found.append((kind, whole))
            new += self.texts.end_item(index, found, is_repeated=is_repeated)
        return new

    def _call_done(self, index: int, item: Item) -> list[Event]:
        new = self.calls.end(index, item)
        for url in items.sources(item, self._left_out_page):
            self._sources.add(url)
        call_id = self.calls.call_id_at(index)
        if call_id is None or item.type in items.RUN_BY_OTHERS:
            return self._shown(new)
        if items.is_failed(item):
            error = safe_json.error_message(item.error) or calls.TOOL_FAILED
            return self._shown([*new, *self.calls.outcome(call_id, error=error)])
        picture = items.picture_of(item)
        made = self._picture(picture) if picture else []
        outcome = items.outcome_of(item, self._frame_stats)
        return self._shown([*new, *made, *self.calls.outcome(call_id, outcome.output)])

    def _output(self, item: Item) -> list[Event]:
        call_id = call_ids.of(item.call_id) or self._call_of_output(item)
        if not call_id:
            self._frame_stats.count_left_out("output of an unknown call", 0)
            return []
        outcome = items.outcome_of(item, self._frame_stats)
        if items.is_failed(item):
            error = safe_json.error_message(item.error) or safe_json.string(outcome.output)
            return self._shown(self.calls.outcome(call_id, error=error or calls.TOOL_FAILED))
        new = self.calls.outcome(call_id, outcome.output)
        made = [each for url in outcome.pictures for each in self._picture(url)] if new else []
        return self._shown([*made, *new])

    def _call_of_output(self, item: Item) -> str | None:
        """The open call whose id an output has as its own. Some tools have no other."""
        own_id = call_ids.of(item.id)
        if own_id in self.calls.open_ids:
            return own_id
        index = self._indexes.get(_short(own_id))
        return None if index is None else self.calls.call_id_at(index)

    def _picture(self, url: str) -> list[Event]:
        if len(url) > PICTURE_MAX or not _PICTURE.match(url):
            self._frame_stats.count_left_out("picture", len(url))
            return []
        mime = url[len("data:") :].partition(";")[0] if url.startswith("data:") else "image/png"
        return [FilePart(url, mime)]

    def _cite(self, found: items.Annotation | None) -> None:
        if found is None or found.url is None:
            self._frame_stats.count_left_out("citation", 0)
        else:
            self._sources.add(found.url, found.title)

    def _shown(self, new: list[Event]) -> list[Event]:
        """Events of a call: they end the block of the text before them."""
        if new:
            self.texts.interrupt()
        return new

    def _left_out_part(self, raw: Raw) -> None:
        self._frame_stats.count_left_out("part of a message", len(raw))

    def _left_out_page(self, raw: Raw) -> None:
        self._frame_stats.count_left_out("citation", len(raw))


def _item_id(item: Item) -> str:
    return call_ids.of(item.id) or call_ids.of(item.call_id)


def _short(item_id: str) -> str:
    """The id by which an item is known, however long the one of its server is."""
    return call_ids.shortened(call_ids.shortened(item_id), calls.DONE_ID_MAX)
