"""What a message has that comes back, and how much of it is told again."""

import json
from typing import Any

from msgspec import Raw

from turnwire.core.continuation import reading
from turnwire.core.known import Known, Left, What
from turnwire.core.steps import whole

APPROVAL = {"id": "a1", "approved": True}
RESPONSE = {"type": "tool-bash", "state": "approval-responded", "approval": APPROVAL}


def known(*parts: Any) -> Known:
    sent = [Raw(json.dumps(part).encode()) for part in (*parts, RESPONSE)]
    return whole(reading("m1", sent, "c1")).known


def test_all_steps_of_a_message_are_counted() -> None:
    step = {"type": "step-start"}
    file = {"type": "file", "url": "data:,", "mediaType": "text/plain"}
    source = {"type": "source-url", "sourceId": "s", "url": "https://a.example"}
    thought = {"type": "reasoning", "text": "hm", "state": "done"}
    texts = [{"type": "text", "text": said} for said in ("a\U0001f600", "", "bc\u00e9")]

    assert known(step, texts[0], file, thought, step, *texts[1:], source, file) == Known(
        message_id="m1", text=5, texts=3, reasoning=2, reasonings=1, files=2, sources=1
    )


def test_other_parts_count_for_nothing_and_odd_ones_for_no_text() -> None:
    odd = [{"type": "text", "text": 7}, {"type": "text"}, {"type": "data-x", "text": "x"}]

    assert known(*odd, {"type": "source-document"}) == Known(message_id="m1", texts=2)


def test_what_it_has_is_taken_from_the_start() -> None:
    left = Left(Known(text=5, files=1))

    assert [left.take(What.TEXT, 3), left.take(What.TEXT, 3), left.take(What.TEXT, 3)] == [3, 2, 0]
    assert [left.take(What.FILES), left.take(What.FILES), left.take(What.SOURCES)] == [1, 0, 0]


def test_what_has_no_end_is_pending() -> None:
    def call(its_id: object, state: object, kind: str = "tool-bash") -> dict[str, Any]:
        return {"type": kind, "toolCallId": its_id, "state": state}

    def asked(its_id: object, data: object) -> dict[str, Any]:
        return {"type": "data-question", "id": its_id, "data": data}

    had = known(
        call("c1", "input-available"),
        call("c2", "input-streaming", "dynamic-tool"),
        call("c3", "output-available"),
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
        asked("q1", {"state": "open"}),
    )

    assert had.pending == {"c1", "c2", "c6", "c7", "q1"}
    assert had.blank == {"c1", "c2"}, "the calls that have no input yet"
