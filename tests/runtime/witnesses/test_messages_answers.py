"""Anthropic's library reads in recorded streams what we read, and we read more of them."""

import hashlib
import json
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any, Final

from gateway.needed import lacking
from runtime.llm.messages_events import (
    BEGIN,
    MODEL,
    STOP,
    call,
    delta,
    ended,
    finish,
    native,
    start,
    stop,
    text,
    thinking,
)
from runtime.llm.streams import read, sse
from turnwire_agent.llm.events import Skipped, ToolCall
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.shapes import messages

HERE: Final = Path(__file__).parent
ENVIRONMENT: Final = HERE.parents[2] / ".venv/runtime-witnesses"
FOLDER: Final = "tests/lib/streaming/fixtures/"


def recordings() -> dict[str, str]:
    """The streams that the makers of the library recorded, by name. None of them is kept here."""
    (pinned,) = re.findall(r"--hash=sha256:(\w+)", (HERE / "recordings.txt").read_text())
    (path,) = [*ENVIRONMENT.glob("recordings/*.tar.gz")] or lacking("`make witnesses` has not run")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == pinned
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            if FOLDER in member.name and (file := archive.extractfile(member)):
                name = Path(member.name).name.removesuffix("_response.txt")
                found[name] = file.read().decode() + "\n\n"  # of one, the last line has no end
    assert len(found) == 16
    return found


def library(bodies: list[str]) -> list[Any]:
    """The final message that the library has of each body; None if it fails."""
    lines = "".join(json.dumps(body) + "\n" for body in bodies)
    command = [ENVIRONMENT / "bin/python", HERE / "read_messages.py"]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_recorded_answers_are_what_the_library_reads() -> None:
    recorded = recordings()
    for name, final in zip(recorded, library([*recorded.values()]), strict=True):
        body = recorded[name].encode()
        events = read(messages, MODEL, [body])
        told = finish(events)
        crlf = body.replace(b"\n", b"\r\n")
        assert read(messages, MODEL, [crlf[at : at + 1] for at in range(len(crlf))]) == events, name
        if name == "tool_use_invalid_json":
            assert final is None
            continue
        blocks = [each for each in final["content"] if each.get("text") != ""]
        if name == "incomplete_partial_json":  # the library makes an object of what was cut
            assert blocks.pop()["input"]["filename"] == "taxes.txt"
            assert list(native(events).pop()["input"]) == ["INVALID_JSON"]
            continue
        usage = final["usage"]
        cached = usage.get("cache_read_input_tokens") or 0
        written = usage.get("cache_creation_input_tokens") or 0
        assert native(events) == blocks, name
        assert told.raw == final["stop_reason"], name
        assert told.usage.input == usage["input_tokens"] + cached + written, name
        assert told.usage.output == usage["output_tokens"], name


def test_a_recorded_answer_that_is_cut_is_none() -> None:
    for name, whole in recordings().items():
        events = whole.replace("\r\n", "\n").split("\n\n")
        last = max(at for at, event in enumerate(events) if "message_stop" in event)
        for kept in range(last):
            body = "".join(event + "\n\n" for event in events[:kept])
            assert read(messages, MODEL, [body.encode()])[-1] == Fault(kind="truncated"), name


def test_a_call_that_the_library_fails_on_is_read() -> None:
    recorded = recordings()
    invalid = read(messages, MODEL, [recorded["tool_use_invalid_json"].encode()])
    (broken,) = [event for event in invalid if isinstance(event, ToolCall)]
    assert broken.arguments == '{"location": "Paris", "unit": celsius}'
    assert native(invalid)[-1]["input"] == {"INVALID_JSON": broken.arguments}


def test_events_that_are_recorded_as_unknown_are_told() -> None:
    events = read(messages, MODEL, [recordings()["unknown_events"].encode()])

    assert [event for event in events if isinstance(event, Skipped)] == [
        Skipped("future_event"),
        Skipped("future_event"),
    ]


def test_thinking_and_calls_side_by_side_are_what_the_library_reads() -> None:
    calls = [call(2, "c1", "a", '{"x": 1', "}"), call(3, "c2", "b", '{"y"', ":[2.5]}")]
    told = [
        *thinking(0, "hm ü", "Ab+/=="),
        start(1, "redacted_thinking", data="x/+="),
        stop(1),
        *(event for pair in zip(*calls, strict=True) for event in pair),
        start(4, "text", text="", citations=None),
        delta(4, "citations_delta", citation={"type": "char_location", "cited_text": "y"}),
        delta(4, "text_delta", text="a\u2028"),
        stop(4),
        *text(5, "b"),
    ]
    begin = BEGIN | {"message": BEGIN["message"] | {"type": "message", "role": "assistant"}}
    body = sse(begin, *told, ended("tool_use", output_tokens=9), STOP, named=True)
    (final,) = library([body.decode()])
    events = read(messages, MODEL, [body])

    assert native(events) == final["content"]
    assert finish(events).raw == final["stop_reason"]


VOCABULARY: Final = """
import json, typing
from anthropic.types import StopReason, content_block, raw_message_stream_event
from anthropic.types import raw_content_block_delta as delta
from anthropic.types.beta import BetaStopReason, beta_raw_content_block_delta as beta_delta
def kinds(*unions):
    return sorted({word for each in unions for word in words(each)})
def words(union):
    members = typing.get_args(typing.get_args(union)[0])
    return [typing.get_args(each.model_fields["type"].annotation)[0] for each in members]
print(json.dumps({
    "reasons": sorted({*typing.get_args(StopReason), *typing.get_args(BetaStopReason)}),
    "deltas": kinds(delta.RawContentBlockDelta, beta_delta.BetaRawContentBlockDelta),
    "events": kinds(raw_message_stream_event.RawMessageStreamEvent),
}))
"""


def test_each_word_that_the_library_knows_is_one_that_we_know() -> None:
    if not (ENVIRONMENT / "bin/python").exists():
        lacking("`make witnesses` has not run")
    command = [str(ENVIRONMENT / "bin/python"), "-c", VOCABULARY]
    known = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)

    assert known["reasons"] == sorted(messages.FINISH_REASONS)
    source = Path(messages.decoder.__code__.co_filename).read_text()
    for word in (*known["deltas"], *known["events"]):
        assert f'case "{word}"' in source, word
