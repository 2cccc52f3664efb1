"""Each frame and each field of docs/wire/session-agent.md is read, or listed as lost."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from docs.lost_rows import claims, invented, is_counted, silent, unlisted
from support import session_agent_frames as f
from support.vocabulary import fields_by_tag, fields_of, types
from turnwire.core.recording.drift import Drift
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.session_agent import SessionAgent, frames, history, init
from turnwire.dialects.session_agent.frames import KNOWN, SKIPPED
from turnwire.dialects.session_agent.schema import SCHEMA
from turnwire_lab.docs.lost import listed
from turnwire_lab.docs.lost.session_agent import ROWS

PAGE: Final = Path(__file__).parents[2] / "docs/wire/session-agent.md"
TOLD: Final = PAGE.read_text().split("\n## 4. ")[1].split("\n## 5. ")[0]
"""The section about what the agent sends."""

LOST: Final = listed(ROWS)
VOCABULARY: Final = types("session-agent")
"""What the page has of the revisions R and V. A has nothing that neither of them has."""


def known() -> dict[str, set[str]]:
    """The vocabulary, with the fields that the schema knows and does not decode."""
    found = {kind: {*names} for kind, names in VOCABULARY.items()}
    for path, names in SCHEMA.unread.items():
        if not path.endswith(".parts"):
            found[path] |= names
    return found


TYPES: Final = known()
PROMPT: Final = "interactive_prompt.prompt"
READ: Final[dict[str, Any]] = {
    **{kind: names for kind, names in fields_by_tag(KNOWN).items() if kind not in SKIPPED},
    "init.session": fields_of(init._SessionStatus) | fields_of(init._Messages),
    "init.session.messages": fields_of(frames.Snapshot),
    "init.data": fields_of(init._Flags),
    "init.data.pendingPrompt": fields_of(frames.Pending),
    "message.data": fields_of(frames.MessageData),
    "message.updated.data": fields_of(frames.Snapshot),
    **dict.fromkeys(("part.text", "part.tool-call", "part.finish"), fields_of(frames.Part)),
    "part.error": fields_of(frames.Part),
    # The files of a prompt, in a history.
    **dict.fromkeys(("part.image", "part.audio"), fields_of(history._File)),
    "status.data": fields_of(frames.StatusData),
    PROMPT: fields_of(frames.PromptData),
    # Those of an approval are handed on whole.
    **{kind: TYPES[kind] for kind in (f"{PROMPT}.actions", f"{PROMPT}.context")},
    "interactive_prompt_resolved.resolution": fields_of(frames.Resolution),
    "queue.state.data": fields_of(frames.QueueData),
    "queue.state.data.pending": fields_of(frames.Pending),
    "queue.withdrawn.data": fields_of(frames.WithdrawnData),
    "audit_log.entry": fields_of(frames.Entry),
}
"""What is read of each."""
VALUE: Final = "told-7f3a"
"""What stands in a field that is lost."""


def samples() -> list[dict[str, Any]]:
    """The frames that the page shows."""
    found = []
    for start in re.finditer(r'\{"type":"', TOLD):
        try:
            found.append(json.JSONDecoder().raw_decode(TOLD[start.start() :])[0])
        except json.JSONDecodeError:
            continue  # a part that is shortened
    return found


def unknown(value: Any, path: str) -> Iterator[str]:
    """The fields of a frame, and the types of its parts, that the vocabulary has not, as paths."""
    for each in value if isinstance(value, list) else [value]:
        is_part = path.endswith(".parts")
        kind = f"part.{each['type']}" if is_part else path
        if is_part and kind not in VOCABULARY:
            yield kind
        if not isinstance(each, dict) or kind not in VOCABULARY:
            continue
        for name, inner in each.items():
            if name not in VOCABULARY[kind] and name != "type":
                yield f"{kind}.{name}"
            yield from unknown(inner, f"{kind}.{name}")


def test_each_frame_of_the_page_is_in_the_vocabulary() -> None:
    parts = [sample for sample in samples() if f"part.{sample['type']}" in TYPES]
    shown = [sample for sample in samples() if sample not in parts or sample["type"] in TYPES]

    assert len({sample["type"] for sample in shown}) >= 10
    assert {sample["type"] for sample in shown} - TYPES.keys() == set()
    assert [path for sample in shown for path in unknown(sample, sample["type"])] == []


def test_each_row_of_the_page_is_in_the_vocabulary() -> None:
    rows = TOLD.split("### 4.5 ")[1]
    kinds = [
        kind
        for cell in re.findall(r"\n\| (`.+?) \|", rows)
        for kind in re.findall(r"`([^`]+)`", cell)
    ]
    lifecycle = re.findall(r"\n\| `(\{.+?\})` .*", TOLD.split("### 4.3 ")[1].split("### 4.4 ")[0])
    names = {name for cell in lifecycle for name in re.findall(r"(\w+)[?:,}]", cell)}

    assert len(kinds) >= 20
    assert set(kinds) - TYPES.keys() == set()
    assert len(names) >= 15
    assert names - TYPES["status.data"] - {"true", "false", "n", "id"} == set()


def test_the_page_names_each_field_of_the_vocabulary() -> None:
    words = set(re.findall(r"\w+", TOLD))

    assert {name for names in VOCABULARY.values() for name in names} - words == set()


def test_each_frame_that_is_known_is_in_the_vocabulary() -> None:
    parts = {kind.partition(".")[2] for kind in TYPES if kind.startswith("part.")}

    assert fields_by_tag(KNOWN).keys() - TYPES.keys() == set()
    assert parts == set().union(*SCHEMA.types.values())


def test_each_frame_and_each_field_is_read_or_listed_as_lost() -> None:
    assert unlisted(TYPES, READ, LOST) == []


def test_nothing_is_listed_that_the_wire_has_not() -> None:
    assert invented(TYPES, LOST) == []


MESSAGE: Final[dict[str, Any]] = {"id": f.TURN, "role": "assistant", "content": ""}
WAITING: Final = {"messageId": "P9", "content": "else"}
WHOLE: Final[dict[str, Any]] = {
    "init": {
        "session": {
            "status": "running",
            "messages": [{"id": "P1", "role": "user", "content": "one", "parts": []}],
        },
        "data": {"runnerBusy": False, "promptsQueued": 1, "pendingPrompt": WAITING},
    },
    "message": {"data": {**MESSAGE, "parts": [], **f.CHANNEL}},
    "message.system": {"data": {"id": "n1", "role": "system", "content": "", "parts": {}}},
    "message.forwarded": {"data": {"id": "n1", "role": "assistant", "content": "a", "parts": {}}},
    "message.updated": {"data": {**MESSAGE, "parts": [f.text("Hi")], **f.CHANNEL}},
    "status": {"data": {}},
    "interactive_prompt": {"prompt": {"id": "q2", "type": "question", "title": "ok?"}, **f.CHANNEL},
    "interactive_prompt_resolved": {"promptId": "q1", "resolution": {"value": "yes"}},
    "interactive_prompt_expired": {"promptId": "q1"},
    "queue.state": {"data": {"pending": WAITING}},
    "queue.withdrawn": {"data": {"messageId": "P9"}},
    "audit_log": {"entry": {"createdAt": "2026-02-26T10:00:00.000Z"}},
}
"""A frame of each type, but for its type."""


OTHERS: Final = ("message.system", "message.forwarded")
"""Messages that are no turn: their fields stand in `data`."""


def made(kind: str, lost: dict[str, Any]) -> bytes:
    """A frame that has these fields where they stand in frames of this kind."""
    if kind == "part.text":
        return made("message.updated.data", {"parts": [{**f.text("Hi"), **lost}]})
    if kind.startswith("part."):
        return made(OTHERS[0], {"parts": {"type": kind.partition(".")[2], **lost}})
    top = max((top for top in WHOLE if f"{kind}.".startswith(f"{top}.")), key=len, default=kind)
    frame = copy.deepcopy(WHOLE.get(top, {}))
    path = "data" if kind in OTHERS else kind.removeprefix(top).strip(".")
    inner = frame
    for name in filter(None, path.split(".")):
        value = inner.setdefault(name, {})
        inner = value[0] if isinstance(value, list) else value
    inner.update(lost)
    return f.frame("message" if kind in OTHERS else top, **frame)


def played(kind: str, **lost: Any) -> tuple[FrameStats, str]:
    """A turn that has one frame of this kind with these fields, and what the client got."""
    protocol = SessionAgent().prompt(PromptRequest(text="two", prompt_id="p1", user_id=f.ME))
    turn = Turn(protocol, Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    frame = made(kind, lost)
    is_first = kind.partition(".")[0] == "init"
    begun = [frame if is_first else f.init("V"), f.user(), f.begin(), f.chunk("Hi"), f.asked("V")]
    told = begun if is_first else [*begun, frame]
    written = b"".join(turn.frames([each], 0).to_client for each in told).decode()
    assert '"delta":"Hi"' in written
    assert protocol.frame_stats.malformed == 0
    return protocol.frame_stats, written


def test_no_frame_of_the_page_is_drift() -> None:
    told = [sample for sample in samples() if sample["type"] in fields_by_tag(KNOWN)]
    lost = [made(kind, dict.fromkeys(names, VALUE)) for kind, names in TYPES.items() if names]

    assert len(told) >= 10
    assert Drift(SCHEMA).inspect([json.dumps(frame).encode() for frame in told]) == []
    assert Drift(SCHEMA).inspect(lost) == []


def test_a_turn_without_such_a_frame_counts_nothing() -> None:
    stats, _ = played("pong")

    assert (stats.foreign, stats.left_out, stats.unrecognised) == (0, {}, {})


@pytest.mark.parametrize("lost", sorted(claims(LOST)), ids=" ".join)
def test_what_is_listed_as_counted_is_counted(lost: tuple[str, str]) -> None:
    kind, _ = lost
    fields = {"content": VALUE} if kind in OTHERS else dict.fromkeys(TYPES[kind], VALUE)
    stats, written = played(kind, **fields)

    assert is_counted(stats, kind, LOST[lost])
    assert VALUE not in written


@pytest.mark.parametrize("lost", [*silent(LOST), ("pong", "any")], ids=" ".join)
def test_clients_get_nothing_of_what_is_listed_as_lost(lost: tuple[str, str]) -> None:
    kind, field = lost
    without, _ = played(kind)
    stats, written = played(kind, **{field: VALUE})

    assert (stats.foreign, stats.left_out) == (without.foreign, without.left_out)
    assert VALUE not in written
