"""AI Elements in a browser: each transcript, shown by `useChat` in their components."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.elements import BUILT, HERE, PAUSE, Pages, Shown, faults, show
from conformance.transcripts import TRANSCRIPTS, title
from gateway.needed import lacking
from turnwire.testing.client_model import read

# The first test waits for the whole page.
pytestmark = [pytest.mark.sockets, pytest.mark.timeout(600)]

TOO_LONG: Final = "v2/values_big"
"""A result of 131,072 lines. They color each one, which takes 20 seconds of CPU or more."""
SHOWN: Final = [path for path in TRANSCRIPTS if title(path) != TOO_LONG]


def sse(*chunks: dict[str, Any]) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(chunk).encode() for chunk in chunks)


START: Final = sse({"type": "start", "messageId": "turn-1"}, {"type": "start-step"})
END: Final = sse({"type": "finish-step"}, {"type": "finish"}) + b"data: [DONE]\n\n"
OURS: Final = {"toolCallId": "c1", "providerExecuted": True}
CALL: Final = {
    "type": "tool-input-available",
    "toolName": "weather",
    "input": {"city": "Rome"},
    **OURS,
}
ASKED: Final = (
    START
    + sse(CALL, {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"})
    + END
)
BEGUN: Final = START + sse(
    {"type": "tool-input-start", "toolCallId": "c1", "toolName": "weather", **OURS}
)
WHOLE: Final = sse(CALL, {"type": "tool-output-available", "output": 21, **OURS}) + END
UNKNOWN: Final = START + sse({"type": "ping"}) + END


@pytest.fixture(scope="module")
def pages() -> Pages:
    (BUILT / ".stamp").exists() or lacking("AI Elements are not built (`make elements` does it)")
    transcripts = {title(path): path.read_bytes() for path in SHOWN}
    return show({**transcripts, "asked": ASKED, "late": BEGUN + PAUSE + WHOLE, "unknown": UNKNOWN})


@pytest.mark.parametrize("path", SHOWN, ids=title)
def test_the_page_shows_what_the_transcript_says(path: Path, pages: Pages) -> None:
    assert faults(read(path.read_bytes()), pages.chat(title(path))) == []


def test_the_browser_reports_no_error_and_no_warning(pages: Pages) -> None:
    assert pages.troubles == []


def test_a_tool_that_waits_for_an_approval_is_shown_so(pages: Pages) -> None:
    chat = pages.chat("asked")

    assert faults(read(ASKED, native=True), chat) == []
    assert [part["label"] for part in chat.parts] == ["Awaiting Approval"]


def test_a_tool_is_shown_before_its_input_comes(pages: Pages) -> None:
    assert faults(read(BEGUN + WHOLE), pages.chat("late")) == []


def test_a_stream_that_no_client_can_read_is_shown_as_an_error(pages: Pages) -> None:
    chat = pages.chat("unknown")

    assert chat.status == "error"
    assert chat.error is not None
    assert "ping" in chat.error


GOOD: Final = Shown(
    name="good",
    status="ready",
    posts=1,
    answers=1,
    error=None,
    parts=[
        {"kind": "reasoning", "text": "Hm."},
        {"kind": "text", "text": "It is \n hot."},
        {
            "kind": "tool",
            "name": "weather",
            "label": "Completed",
            "blocks": {"Parameters": '{\n  "city": "Rome"\n}', "Result": "21"},
        },
        {"kind": "link", "text": "A page", "url": "https://a.example/"},
    ],
)
ANSWER: Final = read(
    START
    + sse(
        {"type": "reasoning-start", "id": "r0"},
        {"type": "reasoning-delta", "id": "r0", "delta": "Hm."},
        {"type": "reasoning-end", "id": "r0"},
        {"type": "text-start", "id": "t0"},
        {"type": "text-delta", "id": "t0", "delta": "It **is** hot."},
        {"type": "text-end", "id": "t0"},
        CALL,
        {"type": "tool-output-available", "output": 21, **OURS},
        {"type": "source-url", "sourceId": "s1", "url": "https://a.example/", "title": "A page"},
        {"type": "data-note", "data": {}},
    )
    + END
)


def test_a_page_that_shows_all_of_it_has_no_fault() -> None:
    assert faults(ANSWER, GOOD) == []


@pytest.mark.parametrize(
    ("place", "field", "value"),
    [
        (0, "text", "Ha."),
        (1, "text", "It is"),
        (2, "label", "Running"),
        (2, "name", "calculator"),
        (2, "blocks", {"Parameters": "{}", "Result": "21"}),
        (2, "blocks", {"Parameters": '{\n  "city": "Rome"\n}'}),
        (3, "url", "https://b.example/"),
    ],
)
def test_what_a_page_shows_otherwise_is_a_fault(place: int, field: str, value: object) -> None:
    parts = [dict(part) for part in GOOD.parts]
    parts[place][field] = value

    (fault,) = faults(ANSWER, _with(parts=parts))
    assert fault.startswith("parts is ")


@pytest.mark.parametrize(
    ("field", "value"),
    [("status", "streaming"), ("posts", 2), ("answers", 2), ("error", "no"), ("parts", [])],
)
def test_what_a_chat_does_otherwise_is_a_fault(field: str, value: object) -> None:
    (fault,) = faults(ANSWER, _with(**{field: value}))
    assert fault.startswith(f"{field} is ")


def _with(**fields: Any) -> Shown:
    return Shown(**{name: getattr(GOOD, name) for name in GOOD.__struct_fields__} | fields)


def test_the_lock_names_no_registry_and_one_copy_of_what_is_tested() -> None:
    packages = json.loads((HERE / "package-lock.json").read_text())["packages"]

    assert [path for path, package in packages.items() if "resolved" in package] == []
    for name in ("ai", "@ai-sdk/react", "react", "react-dom", "streamdown"):
        assert [path for path in packages if path.endswith(f"node_modules/{name}")] == [
            f"node_modules/{name}"
        ]
