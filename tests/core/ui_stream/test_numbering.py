"""A client that counts chunks gets the rest of a turn from whoever has nothing but its content."""

import json
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec import Raw
from msgspec.structs import replace

from support.seeds import each_seed
from turnwire.core import events
from turnwire.core.events import Event, Phase, Reason
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.numbering import (
    PIECE_MAX,
    Numbered,
    Renumbering,
)

Json = dict[str, Any]


class Counting:
    """A message as a client of that transport holds it: a chunk told twice counts twice."""

    def __init__(self) -> None:
        self.count = 0
        self.parts: list[Json] = []
        self.finished = False
        self._by_id: dict[str, Json] = {}

    def take(self, told: Sequence[Chunk]) -> None:
        for chunk in told:
            self.count += 1
            self._take(json.loads(msgspec.json.encode(chunk)))

    def _take(self, chunk: Json) -> None:
        kind = chunk.pop("type")
        match kind:
            case "start-step" | "file" | "data-state" | "error" | "abort" if "id" not in chunk:
                self.parts.append({"type": kind, **chunk})
            case "text-start" | "reasoning-start":
                assert chunk["id"] not in self._by_id
                self._add(chunk["id"], kind, text="")
            case "text-delta" | "reasoning-delta":
                assert 0 < len(chunk["delta"]) <= PIECE_MAX
                self._by_id[chunk["id"]]["text"] += chunk["delta"]
            case "tool-input-start":
                if (call := chunk["toolCallId"]) not in self._by_id:
                    self._add(call, kind)
            case "tool-input-available":
                self._by_id[chunk["toolCallId"]]["input"] = chunk["input"]
            case "tool-output-available":
                self._by_id[chunk["toolCallId"]]["output"] = chunk["output"]
            case "tool-output-error":
                self._by_id[chunk["toolCallId"]]["output"] = chunk["errorText"]
            case "data-state" if "id" in chunk:
                if chunk["id"] not in self._by_id:
                    self._add(chunk["id"], kind)
                self._by_id[chunk["id"]]["data"] = chunk["data"]
            case "data-question":
                if chunk["id"] not in self._by_id:
                    self._add(chunk["id"], kind)
                self._by_id[chunk["id"]]["state"] = chunk["data"]["state"]
            case "finish":
                self.finished = True
            case _:
                assert kind in {
                    "start",
                    "text-end",
                    "reasoning-end",
                    "finish-step",
                    "data-agent-status",
                }

    def _add(self, its_id: str, kind: str, **more: Any) -> None:
        part = {"type": kind, **more}
        self._by_id[its_id] = part
        self.parts.append(part)


class Agent:
    """A turn as it happens, and what is kept of it: parts in their order, with their outcomes."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.live: list[Event] = [events.TurnStarted("t")]
        self.kept: list[list[Event]] = []
        """What a hydration would tell after each of the events."""
        self._parts: list[Any] = []
        self._open: list[dict[str, Any]] = []
        self._keep()
        for _ in range(dice.randint(1, 12)):
            self._act()
        while self._open and dice.random() < 0.9:
            self._end_one()
        end = events.TurnFinished(reason=dice.choice(list(Reason)))
        self.live.append(end)
        self.kept.append([*self.kept[-1], end])

    def _act(self) -> None:
        match self.dice.randrange(11):
            case 0 | 1:
                self._say("text", events.TextDelta)
            case 2:
                self._say("reasoning", events.ReasoningDelta)
            case 3:
                self._call()
            case 4:
                self._ask()
            case 5:
                if self._open:
                    self._end_one()
            case 6:
                self._share_data()
            case 7:
                self.dice.choice((self._preview, self._whisper))()
            case 8:
                self._parts.append({"kind": "mark", "event": events.StepStarted()})
                self._tell(events.StepStarted())
            case 9:
                self._take_back()
            case _:
                part = events.FilePart(f"https://example.com/{len(self.live)}", "image/png")
                self._parts.append({"kind": "file", "event": part})
                self._tell(part)

    def _say(self, kind: str, event: type[Any]) -> None:
        for _ in range(self.dice.randint(1, 5)):
            said = "".join(self.dice.choices("ab, \nü😀", k=self.dice.randint(1, 30)))
            if not self._parts or self._parts[-1]["kind"] != kind:
                self._parts.append({"kind": kind, "event": event, "text": ""})
            self._parts[-1]["text"] += said
            self._tell(event(said))
            if self.dice.random() < 0.2:
                self._tell(events.AgentStatus("streaming"))

    def _call(self) -> None:
        part = {"kind": "call", "id": f"c{len(self.live)}", "phase": Phase.RUNNING}
        self._parts.append(part)
        self._open.append(part)
        if self.dice.random() < 0.5:
            self._tell(_update(part, Phase.PENDING))
        for _ in range(self.dice.randrange(3)):
            self._tell(events.ToolInputDelta(str(part["id"]), "t", "{"))
        self._tell(_update(part, Phase.RUNNING))

    def _preview(self) -> None:
        """A call has an output that nothing repeats."""
        for part in self._open:
            if part["kind"] == "call":
                update = _update(part, Phase.RUNNING)
                self._tell(replace(update, result=Raw(b"1"), preliminary=True))

    def _whisper(self) -> None:
        self._tell(events.DataPart("state", None, Raw(b"1"), transient=True))

    def _share_data(self) -> None:
        data = Raw(b"%d" % len(self.live))
        known = [part for part in self._parts if part["kind"] == "data" and part["event"].part_id]
        if known and self.dice.random() < 0.5:
            part = self.dice.choice(known)
            part["event"] = replace(part["event"], data=data)
        else:
            part_id = f"d{len(self.live)}" if self.dice.random() < 0.7 else None
            part = {"kind": "data", "event": events.DataPart("state", part_id, data)}
            self._parts.append(part)
        self._tell(part["event"])

    def _take_back(self) -> None:
        """An attempt is lost. Its parts are kept until the end of the turn."""
        standing = [part for part in self._parts if part["kind"] != "mark" and "lost" not in part]
        since = self.dice.randint(0, len(standing))
        for part in standing[since:]:
            part["lost"] = True
        self._open = [part for part in self._open if part["kind"] != "call" or "lost" not in part]
        event = events.PartsRetracted(since)
        self._parts.append({"kind": "mark", "event": event})
        self._tell(event)

    def _ask(self) -> None:
        part = {"kind": "question", "id": f"q{len(self.live)}", "closed": False}
        self._parts.append(part)
        self._open.append(part)
        self._tell(events.Question(str(part["id"]), Raw(b"{}")))

    def _end_one(self) -> None:
        part = self._open.pop(self.dice.randrange(len(self._open)))
        if part["kind"] == "call":
            part["phase"] = self.dice.choice([Phase.COMPLETED, Phase.ERROR])
            self._tell(_update(part, part["phase"]))
        else:
            part["closed"] = True
            self._tell(events.QuestionClosed(part["id"], answer=Raw(b'"tea"')))

    def _tell(self, event: Event) -> None:
        self.live.append(event)
        self._keep()

    def _keep(self) -> None:
        kept: list[Event] = [events.TurnStarted("t")]
        for part in self._parts:
            match part["kind"]:
                case "text" | "reasoning":
                    kept.append(part["event"](part["text"]))
                case "file" | "data" | "mark":
                    kept.append(part["event"])
                case "call":
                    kept.append(_update(part, part["phase"]))
                case _:
                    kept.append(events.Question(part["id"], Raw(b"{}")))
                    if part["closed"]:
                        kept.append(events.QuestionClosed(part["id"], answer=Raw(b'"tea"')))
        self.kept.append(kept)


def _update(part: Json, phase: Phase) -> events.ToolUpdate:
    return events.ToolUpdate(
        call_id=part["id"],
        tool_name="t",
        phase=phase,
        args=None if phase is Phase.PENDING else Raw(b'{"x":1}'),
        result=Raw(b"42") if phase is Phase.COMPLETED else None,
        error="Broken" if phase is Phase.ERROR else None,
    )


def undisturbed(agent: Agent) -> Counting:
    client = Counting()
    gateway = Numbered()
    for event in agent.live:
        client.take(gateway.feed(event))
    return client


def cut_off(agent: Agent, cuts: int) -> Counting:
    """The same turn for a client whose connection breaks here and there."""
    dice = agent.dice
    client = Counting()
    at = 0
    for connection in range(cuts + 1):
        gateway = Numbered(skip=client.count)
        told = [c for event in (agent.kept[at - 1] if at else []) for c in gateway.feed(event)]
        ends = len(agent.live) if connection == cuts else dice.randint(at, len(agent.live))
        told += [chunk for event in agent.live[at:ends] for chunk in gateway.feed(event)]
        client.take(told if connection == cuts else told[: dice.randint(0, len(told))])
        at = dice.randint(ends, len(agent.live))
        if client.finished:
            break
    return client


@each_seed(400)
def test_a_client_that_was_cut_off_holds_what_it_would_have_held(seed: int) -> None:
    agent = Agent(random.Random(seed))  # noqa: S311 - the same turn every time
    whole = undisturbed(agent)

    client = cut_off(agent, 1 + seed % 4)

    assert client.finished
    assert client.parts == whole.parts
    assert client.count == whole.count


@each_seed(100)
def test_the_numbers_do_not_depend_on_how_the_turn_was_told(seed: int) -> None:
    agent = Agent(random.Random(seed))  # noqa: S311 - the same turn every time
    again = Counting()
    gateway = Numbered()
    for event in agent.kept[-1]:
        again.take(gateway.feed(event))

    whole = undisturbed(agent)
    assert again.count == whole.count
    assert again.parts == whole.parts


@pytest.mark.parametrize(
    ("deltas", "pieces"),
    [
        (["Hello"], ["Hello"]),
        (["Hel", "lo wor", "ld"], ["Hello", " world"]),
        (["Hello world"], ["Hello", " world"]),
        (["a  b\n\n", "\n c"], ["a", "  b", "\n\n\n c"]),
        (["x" * 24 + " y"], ["x" * 24, " y"]),
        (["x" * 24], ["x" * 24]),
        (["x" * 20, "x" * 30], ["x" * 24, "x" * 24, "xx"]),
        ([" " * 30], [" " * 24, " " * 6]),
        (["end. "], ["end.", " "]),
    ],
)
def test_text_is_cut_at_words(deltas: list[str], pieces: list[str]) -> None:
    recut = Renumbering()
    told = [c for delta in deltas for c in recut.take([chunks.TextDelta("t", delta)])]
    told += recut.take([chunks.TextEnd("t")])

    assert [c.delta for c in told if isinstance(c, chunks.TextDelta)] == pieces


def test_blocks_at_once_have_words_of_their_own() -> None:
    recut = Renumbering()
    deltas = [("t0", "Hel"), ("t1", "Wor"), ("t0", "lo you"), ("t1", "ld ")]
    told = recut.take([chunks.TextDelta(block, delta) for block, delta in deltas])
    told += recut.take([chunks.TextEnd("t1"), chunks.TextEnd("t0")])

    assert told == [
        chunks.TextDelta("t0", "Hello"),
        chunks.TextDelta("t1", "World"),
        *(chunks.TextDelta("t1", " "), chunks.TextEnd("t1")),
        *(chunks.TextDelta("t0", " you"), chunks.TextEnd("t0")),
    ]


def test_a_block_ends_after_the_last_of_its_words() -> None:
    recut = Renumbering()

    recut.take([chunks.TextDelta("t", "a")])
    assert recut.take([chunks.TextEnd("t")]) == [chunks.TextDelta("t", "a"), chunks.TextEnd("t")]
    recut.take([chunks.ReasoningDelta("r", "b")])
    assert recut.take([chunks.ReasoningEnd("r")]) == [
        chunks.ReasoningDelta("r", "b"),
        chunks.ReasoningEnd("r"),
    ]


def test_a_word_of_megabytes_is_read_once() -> None:
    """To look for its end anew for each piece of it would take hours."""
    told = Renumbering().take([chunks.TextDelta("t0", "w" * 2_000_000)])

    assert len(told) == 2_000_000 // PIECE_MAX


def test_the_room_of_a_call_is_filled_with_the_last_status() -> None:
    gateway = Numbered()
    told: list[Chunk] = []
    for event in (
        events.TurnStarted("t"),
        events.AgentStatus("tool_calling"),
        events.ToolUpdate(call_id="c", tool_name="t", phase=Phase.COMPLETED),
        events.TextDelta("Done."),
    ):
        told += gateway.feed(event)

    kinds = [str(chunk.__struct_config__.tag) for chunk in told]
    assert kinds == [
        "start",
        "start-step",
        "tool-input-start",
        "tool-input-available",
        "tool-output-available",
        *["data-agent-status"] * 6,
        "finish-step",
        "start-step",
        "text-start",
    ]
    assert told[6] == chunks.DataAgentStatus(chunks.StatusData("tool_calling"))


def test_a_client_that_has_more_than_there_is_gets_the_end() -> None:
    gateway = Numbered(skip=1_000)
    end = events.TurnFinished(reason=Reason.END_TURN)
    told = [chunk for event in (events.TurnStarted("t"), end) for chunk in gateway.feed(event)]

    assert told == [chunks.Finish()]


def test_an_end_before_the_turn_began() -> None:
    gateway = Numbered()

    assert gateway.fail("Broken") == [chunks.Start(), chunks.Error("Broken"), chunks.Finish()]


@pytest.mark.parametrize("skip", [0, 3, 6])
@pytest.mark.parametrize("said", [events.TextDelta("Hi "), events.FilePart("https://a.b/", "a/b")])
def test_a_call_whose_input_comes_too_late_has_an_empty_one(said: Event, skip: int) -> None:
    """A card with an outcome and without an input is none that apps know."""
    part = {"id": "c", "phase": Phase.PENDING}
    end = events.TurnFinished(reason=Reason.END_TURN)
    live: list[Event] = [events.TurnStarted("t"), _update(part, Phase.PENDING), said]
    rest: list[Event] = [_update(part, Phase.RUNNING), _update(part, Phase.COMPLETED), end]
    client = Counting()
    first = Numbered()
    client.take([c for event in live for c in first.feed(event)][: skip or None])
    gateway = Numbered(skip=client.count) if skip else first
    for event in [*(live if skip else []), *rest]:
        client.take(gateway.feed(event))

    (call,) = [part for part in client.parts if part["type"] == "tool-input-start"]
    assert (call["input"], call["output"]) == ({}, 42)
    assert client.count == undisturbed_count([*live, *rest])


def undisturbed_count(live: Sequence[Event]) -> int:
    gateway = Numbered()
    return sum(len(gateway.feed(event)) for event in live)
