"""Whatever an agent says, a record stays one event line and one data line, and parses back."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from support import session_agent_frames as s
from support import v2_frames as f
from turnwire.core.agent import AgentProtocol
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import Client, check_record

NASTY = (
    *("a\rb", "a\nb", "a\r\nb", "a\x85b", "a\u2028b", "a\u2029b", "a\0b", "a\x1b[31mb"),
    *(
        "a\n\ndata: {}",
        "a\n\ndata: [DONE]\n\n",
        "\n\nevent: finish\ndata: {}\n\n",
        ": a",
        "\ufeffa",
    ),
    *('"}', '","type":"finish","x":"', "</script>", "\\u000a", "\\n\\n", "\x0b\x0c\x1c\x1d\x1e"),
)

Chunks = list[dict[str, Any]]


def stream(conversation: AgentProtocol, *frames: bytes) -> Chunks:
    """The chunks of a whole stream, each of its records checked."""
    turn = Turn(conversation, Limits(), UIMessageStream())
    written = (
        turn.handle(Opened(), 0).to_client
        + turn.frames(frames, 1).to_client
        + turn.handle(AgentLeft(), 2).to_client
    )
    client = Client()
    client.read(written)
    client.close()
    records = [part for part in written.split(b"\n\n") if part.startswith((b"event:", b"data: {"))]
    lines = re.compile(rb"event: [a-z-]+\ndata: \{[^\r\n]*\}")
    assert all(lines.fullmatch(record) for record in records)
    assert sum(record.count(b"\n") for record in records) == len(records)
    return [check_record(record) for record in records]


def v2(*frames: bytes, turn: str = f.OURS) -> Chunks:
    conversation = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    return stream(conversation, f.begin(turn), *frames, f.finalize(turn))


def values(chunks: Chunks, field: str) -> list[Any]:
    return [chunk[field] for chunk in chunks if field in chunk]


def _part(kind: str, **fields: str) -> bytes:
    whole = {"turnId": f.OURS, "url": "https://a/", "mime": "a/b", "sourceId": "s1", **fields}
    return f.frame(f"message.part.{kind}", **whole)


Told = Callable[[str], list[Any]]

FIELDS: dict[str, Told] = {
    "a turn's id": lambda n: values(v2(turn=n), "messageId"),
    "text": lambda n: values(v2(f.part(n)), "delta"),
    "text of a chunk": lambda n: values(v2(f.chunk(n)), "delta"),
    "the last text": lambda n: values(v2(f.finalize(finalText=n)), "delta"),
    "reasoning": lambda n: values(v2(f.reasoning(n)), "delta"),
    "a call's id": lambda n: values(v2(f.tool("running", n, args={})), "toolCallId")[:1],
    "a tool's name": lambda n: values(v2(f.tool("running", "c1", n, args={})), "toolName")[:1],
    "a tool's input": lambda n: values(v2(f.tool("running", args=n)), "input"),
    "a key of an input": lambda n: [
        key for given in values(v2(f.tool("running", args={n: 1})), "input") for key in given
    ],
    "a tool's output": lambda n: values(v2(f.tool("completed", result=n)), "output"),
    "a question's id": lambda n: values(v2(f.question(n)), "id")[-1:],
    "a question's text": lambda n: [
        data["text"] for data in values(v2(f.frame("question", questionId="q", text=n)), "data")
    ][:1],
    "a question's payload": lambda n: [
        data["x"] for data in values(v2(f.question("q", x=n)), "data")
    ][:1],
    "a status": lambda n: [
        data["detail"]
        for data in values(v2(f.frame("agentStatus", status="thinking", detail=n)), "data")
    ],
    "a source's title": lambda n: values(v2(f.source(title=n)), "title"),
    "a source's id": lambda n: values(v2(_part("source", sourceId=n)), "sourceId"),
    "a file's type": lambda n: values(v2(_part("file", mime=n)), "mediaType"),
    "a file's URL": lambda n: [
        url.removeprefix("https://a/") for url in values(v2(f.file(f"https://a/{n}")), "url")
    ],
    "a source's URL": lambda n: [
        url.removeprefix("https://a/") for url in values(v2(f.source(f"https://a/{n}")), "url")
    ],
}


@pytest.mark.attack(
    "an id, a name, a text or a value of the agent with CR, LF, NEL, U+2028, NUL or a record in it",
    "one event line, one data line; the JSON has the text of the agent",
)
@pytest.mark.parametrize("field", list(FIELDS))
def test_what_the_agent_says_is_one_string_of_one_record(field: str) -> None:
    for nasty in NASTY:
        assert FIELDS[field](nasty) == [nasty], (field, nasty)


UNSHOWN: dict[str, Callable[[str], Chunks]] = {
    "an error": lambda n: v2(f.frame("error", error=n)),
    "the error of an end": lambda n: v2(f.finalize(reason="error", error=n)),
    "the error of a tool": lambda n: v2(f.tool("error", error=n)),
    "a reason": lambda n: v2(f.finalize(reason=n)),
    "a type": lambda n: v2(f.frame(n)),
    "a tool's state": lambda n: v2(f.tool(n)),
}


@pytest.mark.attack(
    "an error text, a reason or a type with control characters or a record in it",
    "an error text loses its control characters; the others are not shown",
)
@pytest.mark.parametrize("field", list(UNSHOWN))
def test_what_is_shown_to_people_has_no_control_characters(field: str) -> None:
    for nasty in NASTY:
        for chunk in UNSHOWN[field](nasty):
            shown = chunk.get("errorText", "")
            assert not re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029]", shown)


@pytest.mark.attack("a link that runs code when it is clicked", "the part is not shown")
@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", " javascript:1", "java\nscript:1", "vbscript:1"]
)
def test_a_link_runs_nothing(url: str) -> None:
    assert values(v2(f.file(url), f.source(url)), "url") == []


@pytest.mark.attack("raw line breaks between the tokens of a value", "the record is still one line")
def test_raw_line_breaks_in_json_do_not_get_out() -> None:
    value = b'{"type":"message.part.tool-update","turnId":"turn-1","callId":"c1","toolName":"x",'
    value += b'"status":"running","args":{\r\n"a"\n:\r1\n\n}}'

    assert values(v2(value), "input") == [{"a": 1}]


@pytest.mark.attack(
    "line breaks or a record in the ids, names and texts of a `session-agent` agent",
    "one event line, one data line",
)
@pytest.mark.parametrize("revision", s.REVISIONS)
def test_the_other_dialect_does_as_well(revision: str) -> None:
    for nasty in NASTY:
        asked = PromptRequest(text="two", prompt_id="p1", user_id=s.ME)
        conversation = DIALECTS["session-agent"].prompt(asked)
        chunks = stream(
            conversation,
            s.init(revision),
            s.user(),
            s.begin(nasty),
            s.chunk(nasty, nasty),
            s.updated(s.text(nasty), s.tool("running", nasty), turn=nasty),
            s.failure(nasty),
        )

        assert values(chunks, "messageId") == [nasty]
        assert values(chunks, "delta") == [nasty]
        assert json.dumps(chunks)
