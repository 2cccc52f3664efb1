"""What the events of our responses tell, one after the other: texts, calls, sources, files.

`Progress.take` returns the events of one event of the wire. It knows nothing of where a response
begins and how it ends (`turn`), and goes on from one response of a turn to the next.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.core.bounds import KEPT_BYTES_MAX, OPEN_QUESTIONS_MAX, keep
from turnwire.core.events import Event, FilePart
from turnwire.core.wire import call_ids
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.sources import Sources
from turnwire.dialects.openai_responses import approvals, calls, frames, items, text
from turnwire.dialects.openai_responses.approvals import Request
from turnwire.dialects.openai_responses.calls import Calls
from turnwire.dialects.openai_responses.frames import Content
from turnwire.dialects.openai_responses.items import Item
from turnwire.dialects.openai_responses.text import Texts

PICTURE_MAX: Final = 4_194_304
"""Longest URL of a picture that is shown, in characters."""

ITEMS_MAX: Final = 4_096
"""Most items without an index that are told from each other."""

ITEMS_BYTES_MAX: Final = 1_048_576
"""Most bytes of the items of a turn that are kept for its next response."""


class Progress:
    """What a turn tells the client."""

    def __init__(self, turn_id: str, frame_stats: FrameStats, *, is_kept: bool) -> None:
        """`is_kept`: the items are kept, since the agent keeps none."""
        self.calls = Calls(turn_id)
        self.texts = Texts(frame_stats)
        self.usage: Raw | None = None
        """The last usage that came: later ones replace it, and are never added."""
        self.requests: dict[str, Request] = {}
        """The approvals that this response asked for, by the ids of their questions."""
        self.items: list[bytes] = []
        """The items that are done, as the agent sent them."""
        self.is_whole = is_kept
        """Whether all of the items are kept."""
        self.has_worked = False
        """Whether this response told anything."""
        self.has_unreadable_request = False
        """Whether an approval was asked for that nobody can give."""
        self._items_bytes = 0
        """How many bytes these items have."""
        self._own_indexes: dict[str, int] = {}
        """Indexes of items whose server sends none, by the ids of the items."""
        self._own_count = 0
        self._sources = Sources(frame_stats)
        self._frame_stats = frame_stats

    @property
    def kept_bytes(self) -> int:
        """About how many bytes of the agent's are kept."""
        return self._items_bytes + self.calls.kept_bytes

    def next_response(self) -> None:
        """Another response of this turn begins."""
        self.requests = {}
        self.has_worked = False
        self._own_indexes.clear()
        self.calls.next_response()
        self.texts.next_response()

    def take(self, frame: Content, size: int) -> list[Event]:
        """Return the events of an event of our response of this `size` in bytes."""
        self.has_worked = True
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
                item = items.read(raw)
                return [] if item is None else self._added(self._at_item(index, item), item)
            case frames.ItemDone(raw, index):
                self._keep(raw)
                item = items.read(raw)
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

    def all_at_once(self, output: Raw) -> list[Event]:
        """Take the items in the last event: those that it alone has.

        That is all of them, or the messages of a response that showed its calls and no text.
        """
        has_worked, is_shown = self.has_worked, self.texts.is_shown
        new: list[Event] = []
        if is_shown and has_worked:
            return new
        for index, raw in enumerate(items.raw_list(output)):
            item = items.read(raw)
            if has_worked and (item is None or item.type != items.MESSAGE):
                continue
            self._keep(raw)
            new += [] if item is None else self._done(index, item)
        return new

    def answer_unrun(self) -> None:
        """Add an output to each call that has none: servers refuse the next request otherwise."""
        called: dict[bytes, str] = {}
        for kept in self.items:
            item = items.read(Raw(kept))
            if item is None:
                continue
            if item.type in items.ANSWERED:
                called[bytes(item.call_id)] = items.ANSWERED[item.type]
            elif items.is_output(item):
                called.pop(bytes(item.call_id), None)
        for call_id, kind in called.items():
            given = (kind.encode(), call_id, calls.NO_RESULT.encode())
            self._keep(Raw(b'{"type":"%b","call_id":%b,"output":"%b"}' % given))

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
        item_id = call_ids.shortened(call_ids.shortened(item_id), calls.DONE_ID_MAX)
        if item_id and item_id not in self._own_indexes:
            keep(self._own_indexes, item_id, -2 - self._own_count, ITEMS_MAX)
            self._own_count += 1
        return self._own_indexes.get(item_id, -1)

    def _at_item(self, index: int, item: Item) -> int:
        return self._at(index, call_ids.of(item.id) or call_ids.of(item.call_id))

    def _added(self, index: int, item: Item) -> list[Event]:
        if items.is_call(item):
            return self._shown(self.calls.begin(index, item))
        if items.is_output(item) and items.word(item.status) != "in_progress":
            return self._output(item)
        return []

    def _done(self, index: int, item: Item) -> list[Event]:
        match item.type:
            case items.MESSAGE:
                return self._message(index, item)
            case items.REASONING:
                return self._reasoning(index, item)
            case items.APPROVAL:
                return self._request(item)
            case _ if items.is_output(item):
                return self._output(item)
            case _ if items.is_call(item):
                return self._call_done(index, item)
            case _:
                self._frame_stats.count_left_out("item", 0)
                return []

    def _message(self, index: int, item: Item) -> list[Event]:
        new: list[Event] = []
        for number, part in enumerate(items.parts(item.content)):
            for kind, raw in ((text.TEXT, part.text), (text.REFUSAL, part.refusal)):
                if (whole := safe_json.string(raw)) is not None:
                    new += self.texts.end((kind, index, number), whole)
            for found in items.annotations(part):
                self._cite(found)
        return new

    def _reasoning(self, index: int, item: Item) -> list[Event]:
        new: list[Event] = []
        for kind, raw in ((text.SUMMARY, item.summary), (text.REASONING, item.content)):
            for number, part in enumerate(items.parts(raw)):
                if (whole := safe_json.string(part.text)) is not None:
                    new += self.texts.end((kind, index, number), whole)
        return new

    def _request(self, item: Item) -> list[Event]:
        """An approval is asked for: its call gets a card, and waits."""
        request = approvals.request_of(item)
        if request is not None and request.question_id in self.requests:
            return []
        if request is None or len(self.requests) >= OPEN_QUESTIONS_MAX:
            self._frame_stats.count_left_out("request for an approval", 0)
            self.has_unreadable_request = True
            return []
        self.requests[request.question_id] = request
        return self._shown(self.calls.wait(request.request_id, request.name, request.input))

    def _call_done(self, index: int, item: Item) -> list[Event]:
        new = self.calls.end(index, item)
        for url in items.sources(item):
            self._sources.add(url)
        call_id = self.calls.call_id_at(index)
        if call_id is None or item.type in items.RUN_BY_OTHERS:
            return self._shown(new)
        if items.is_failed(item):
            error = safe_json.error_message(item.error) or calls.TOOL_FAILED
            return self._shown([*new, *self.calls.outcome(call_id, error=error)])
        picture = safe_json.string(item.result)
        made = [] if not picture else self._picture(f"data:image/png;base64,{picture}")
        outcome = items.outcome_of(item, self._frame_stats)
        return self._shown([*new, *made, *self.calls.outcome(call_id, outcome.output)])

    def _output(self, item: Item) -> list[Event]:
        call_id = call_ids.of(item.call_id)
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

    def _picture(self, url: str) -> list[Event]:
        if len(url) > PICTURE_MAX:
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

    def _keep(self, raw: Raw) -> None:
        """Keep an item for the next response of this turn."""
        if not self.is_whole:
            return
        self._items_bytes += len(raw)
        self.items.append(bytes(raw))
        if self._items_bytes > ITEMS_BYTES_MAX:
            self.forget()

    def forget(self) -> None:
        """Keep no item any more: no other response can follow."""
        self.is_whole = False
        self._items_bytes = 0
        self.items.clear()
