"""The history on the `session-agent` wire: R repeats it, though not as it was told (page 5.7)."""

import json
from typing import Any

import msgspec
import pytest

from support import session_agent_frames as f
from turnwire.core.agent import NEVER
from turnwire.core.body.attachments import Attachment
from turnwire.core.events import TextDelta
from turnwire.core.operations import History, HistoryPrompt, HistoryTurn
from turnwire.core.rejection import Rejection
from turnwire.core.requests import HistoryRequest
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.history import HistoryOperation

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png", "filename": "a.png"}


def recalling(*frames: bytes, **recall: Any) -> HistoryOperation:
    given: dict[str, Any] = {"user_id": f.ME, "init_s": 2, "verdict_s": 5, "limit": 100, **recall}
    made = SessionAgent().read_history(HistoryRequest(**given))
    assert made.connection_opened(0) == ()
    for frame in frames:
        assert made.receive_frame(frame, 0) == ()
    return made


def prompt(prompt: str = "P1", **fields: Any) -> f.Fields:
    return {"id": prompt, "role": "user", "content": "hi", **f.CHANNEL, **fields}


def turn(*parts: Any, content: str = "", turn: str = f.TURN, **fields: Any) -> f.Fields:
    entry = {"id": turn, "role": "assistant", "content": content, "parts": list(parts)}
    return {**entry, **f.CHANNEL, **fields}


def init(*entries: Any, **data: Any) -> bytes:
    told = json.loads(f.init("R", **data))
    told["session"]["messages"] = entries
    return json.dumps(told).encode()


def transcript(*entries: Any, **recall: Any) -> History:
    made = recalling(init(*entries), **recall)
    assert isinstance(made.result, History)
    assert made.deadline == NEVER
    return made.result


def parts(*said: Any) -> list[tuple[str, Any]]:
    """A turn as clients hold it: what stands in each part."""
    (message,) = msgspec.json.decode(ui_messages(transcript(turn(*said))))
    return [
        (part["type"], part.get("text", part.get("output", part.get("errorText"))))
        for part in message["parts"]
        if part["type"] != "step-start"
    ]


def test_prompts_and_turns_come_in_their_order() -> None:
    said = list(transcript(prompt(), turn(f.text("Hello"), f.END, content="Hello")).entries)

    assert [type(one) for one in said] == [HistoryPrompt, HistoryTurn]
    assert said[0] == HistoryPrompt("P1", "hi")


def test_a_turn_with_one_text_and_a_tool() -> None:
    assert parts(f.text("A"), f.tool("completed", result="x"), f.END) == [
        ("text", "A"),
        ("tool-bash", "x"),
    ]


def test_text_that_the_end_wrote_over_is_told_once_where_it_was_said() -> None:
    assert parts(f.text("C"), f.tool("completed"), f.text("C"), f.END) == [
        ("tool-bash", None),
        ("text", "C"),
    ]


def test_text_that_repeats_all_that_was_said_is_taken_apart() -> None:
    said = [f.text("A"), f.tool("completed"), f.text("AB"), f.tool("error", "c2", error="no")]

    assert parts(*said, f.END) == [
        ("text", "A"),
        ("tool-bash", None),
        ("text", "B"),
        ("tool-bash", "no"),
    ]


def test_text_that_has_no_part_is_told_even_so() -> None:
    message = turn(f.END, content="Only here")

    (told,) = msgspec.json.decode(ui_messages(transcript(message)))
    assert [part.get("text") for part in told["parts"]] == [None, "Only here"]


def test_a_turn_that_failed_says_why() -> None:
    (told,) = transcript(turn(f.finish("error"), {"type": "error", "message": "No"})).entries

    assert isinstance(told, HistoryTurn)
    assert [getattr(event, "error", None) for event in told.events] == ["No"]


def test_who_asks_is_told_how_turns_ended() -> None:
    failed = turn(f.finish("error"), {"type": "error", "message": "No"}, turn="a1")
    ended = transcript(failed, turn(f.finish("canceled"), turn="a2"), turn(f.END))

    told = msgspec.json.decode(ui_messages(ended, finish=True))
    assert [message.get("metadata") for message in told] == [
        {"finish": {"reason": "error", "errorText": "No"}},
        {"finish": {"reason": "canceled"}},
        None,
    ]


def test_a_turn_that_is_not_over_is_left_out() -> None:
    said = transcript(prompt(), turn(f.text("A"), content="A")).entries

    assert [type(one) for one in said] == [HistoryPrompt]


def test_a_forwarded_entry_is_told_and_the_systems_are_not() -> None:
    forwarded = turn(content="From elsewhere", parts={"forwarded": True})
    empty = turn(turn="T2", parts={"forwarded": True})
    system = turn(content="Woke up", turn="S1", role="system")

    (told,) = transcript(forwarded, empty, system, {"id": 5}).entries

    assert isinstance(told, HistoryTurn)
    assert next(iter(told.events)) == TextDelta("From elsewhere")


def test_files_come_with_their_prompt() -> None:
    entries = [prompt(parts=[IMAGE, {"type": "image"}, 5]), prompt("P2", parts={"a": 1})]

    first, second = transcript(*entries).entries

    assert first == HistoryPrompt(
        "P1", "hi", (Attachment("image/png", "data:image/png;base64,aGk=", "a.png"),)
    )
    assert second == HistoryPrompt("P2", "hi")


def test_other_channels_are_left_out() -> None:
    said = list(transcript(prompt("P1", channelId="other"), prompt("P2", channelId=None)).entries)

    assert said == [HistoryPrompt("P2", "hi")]


@pytest.mark.parametrize(
    ("recall", "ids"),
    [
        ({"limit": 2}, ["P2", "P3"]),
        ({"limit": 1, "before": "P3"}, ["P2"]),
        ({"before": f.TURN}, ["P1"]),
        ({"before": "P1"}, []),
        ({"before": "P9"}, []),
    ],
)
def test_a_part_of_it(recall: dict[str, Any], ids: list[str]) -> None:
    said = transcript(prompt(), turn(f.END), prompt("P2"), prompt("P3"), **recall).entries

    assert [getattr(one, "message_id", None) for one in said] == ids


@pytest.mark.parametrize("revision", ["A", "V"])
def test_a_v_repeat_no_history(revision: str) -> None:
    made = recalling(f.init(revision))

    assert made.result is Rejection.UNSUPPORTED


def test_no_init() -> None:
    made = recalling()

    assert made.tick(2) == ()
    assert made.result is Rejection.SILENT


def test_what_follows_its_init_says_nothing_more() -> None:
    made = recalling(init(prompt()))

    assert made.receive_frame(f.chunk("a"), 0) == ()
    assert made.tick(NEVER) == ()
    assert isinstance(made.result, History)


def test_an_agent_that_leaves() -> None:
    made = recalling()

    made.connection_lost()

    assert made.result is Rejection.SILENT
