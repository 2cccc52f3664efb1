"""What a message has that comes back, and how much of it is told again."""

import json
from typing import Any

from msgspec import Raw

from turnwire.core.body.client_copy import ClientCopy, PartKind, Remaining
from turnwire.core.body.continuation import read_in_steps
from turnwire.core.steps import run_steps

APPROVAL = {"id": "a1", "approved": True}
RESPONSE = {"type": "tool-bash", "state": "approval-responded", "approval": APPROVAL}


def known(*parts: Any) -> ClientCopy:
    sent = [Raw(json.dumps(part).encode()) for part in (*parts, RESPONSE)]
    return run_steps(read_in_steps("m1", sent, "c1")).client_copy


def test_all_steps_of_a_message_are_counted() -> None:
    step = {"type": "step-start"}
    file = {"type": "file", "url": "data:,", "mediaType": "text/plain"}
    source = {"type": "source-url", "sourceId": "s", "url": "https://a.example"}
    thought = {"type": "reasoning", "text": "hm", "state": "done"}
    data = [{"type": "data-x", "data": 1} | given for given in ({}, {"id": None}, {"id": "d"})]
    texts = [{"type": "text", "text": said} for said in ("a\U0001f600", "", "bc\u00e9")]

    assert known(
        step, texts[0], file, thought, step, *texts[1:], source, file, *data
    ) == ClientCopy(
        message_id="m1",
        text_chars=5,
        text_blocks=3,
        reasoning_chars=2,
        reasoning_blocks=1,
        files=2,
        sources=1,
        data=2,
    )


def test_other_parts_count_for_nothing_and_odd_ones_for_no_text() -> None:
    odd = [{"type": "text", "text": 7}, {"type": "text"}, {"type": "datax", "text": "x"}]

    assert known(*odd, {"type": "source-document"}) == ClientCopy(message_id="m1", text_blocks=2)


def test_what_it_has_is_taken_from_the_start() -> None:
    left = Remaining(ClientCopy(text_chars=5, files=1))

    assert [
        left.take(PartKind.TEXT, 3),
        left.take(PartKind.TEXT, 3),
        left.take(PartKind.TEXT, 3),
    ] == [3, 2, 0]
    assert [left.take(PartKind.FILES), left.take(PartKind.FILES), left.take(PartKind.SOURCES)] == [
        1,
        0,
        0,
    ]


def test_what_has_no_end_is_pending() -> None:
    def call(its_id: object, state: object, kind: str = "tool-bash") -> dict[str, Any]:
        return {"type": kind, "toolCallId": its_id, "state": state}

    def asked(its_id: object, data: object) -> dict[str, Any]:
        return {"type": "data-question", "id": its_id, "data": data}

    had = known(
        call("c1", "input-available"),
        call("c2", "input-streaming", "dynamic-tool"),
        call("c3", "output-available"),
        call("c3b", "output-available") | {"preliminary": True, "input": {}},
        call("c3c", "output-available") | {"preliminary": False},
        call("c4", "output-error"),
        call("c5", "output-denied"),
        call(7, "input-available"),
        asked("q2", {"state": "resolved"}),
        asked("q3", {"state": 7}),
        asked("q4", 7),
        asked(7, {"state": "open"}),
        {"type": "data-question", "id": "q5"},
        {"type": "step-start"},
        call("c6", "approval-requested") | {"input": {}},
        call("c7", "input-available") | {"input": None},
        call("c8", "input-streaming") | {"input": {"a": "half of i"}},
        asked("q1", {"state": "open"}),
    )

    assert had.pending == {"c1", "c2", "c3b", "c6", "c7", "c8", "q1"}
    assert had.without_input == {"c1", "c2", "c8"}, "the calls that have no whole input yet"
