"""What chunks tell: text, reasoning in its spellings, refusals, sources, files, usage."""

import json
from typing import Any

import msgspec
import pytest

from support import openai_chat_frames as f
from support.openai_turn import plain_event
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_chat import progress as module
from turnwire.dialects.openai_chat.frames import Chunk, ToolProgress, decode
from turnwire.dialects.openai_chat.progress import Progress


class Taken:
    def __init__(self, *frames: bytes) -> None:
        self.stats = FrameStats()
        self.progress = Progress("p1", self.stats)
        self.events: list[Any] = []
        for frame in frames:
            chunk = decode(frame)
            assert isinstance(chunk, Chunk)
            self.events += map(plain_event, self.progress.take(chunk))

    @property
    def texts(self) -> list[str]:
        """Each delta, with a letter for its kind; a break is a bar."""
        return [
            "|" if kind == "TextBreak" else f"{kind[0].lower()}:{fields['text']}"
            for kind, fields in self.events
            if "text" in fields or kind == "TextBreak"
        ]


def test_text_and_reasoning_are_deltas_of_their_kind() -> None:
    told = Taken(f.started(), f.thought("hm"), f.text("a"), f.text(None), f.text(""), f.text("b"))

    assert told.texts == ["r:hm", "t:a", "t:b"]
    assert told.progress.has_text


@pytest.mark.parametrize(
    "frame",
    [
        f.thought("hm"),
        f.thought("hm", "reasoning"),
        f.chunk({"reasoning_content": "hm", "reasoning": "hm"}),
        f.chunk({"reasoning_content": "", "reasoning": "hm", "content": None}),
        f.text([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]),
        f.text([{"type": "thinking", "thinking": "hm"}]),
    ],
)
def test_reasoning_in_each_spelling_is_told_once(frame: bytes) -> None:
    assert Taken(frame).texts == ["r:hm"]


def test_a_content_in_parts() -> None:
    told = Taken(
        f.text([{"type": "text", "text": "a"}, {"type": "reference", "reference_ids": [1]}, 7]),
        f.text([{"type": "thinking"}, {"type": "text", "text": 7}, {"text": "no type"}]),
        f.text([{"type": "thinking", "thinking": [{"type": "text"}, 7]}]),
        f.text([{"type": "thinking", "thinking": 7}]),
        f.text(["b", {"type": "output_text", "text": "c"}]),
        f.text([{"type": "text", "text": {"value": "d", "annotations": []}}]),
    )

    assert told.texts == ["t:a", "t:b", "t:c", "t:d"]
    assert told.stats.left_out == {"part of the content": 7}


def test_a_refusal_has_a_block_of_its_own() -> None:
    told = Taken(f.text("a"), f.refusal("I can"), f.refusal("not"), f.text("b"))

    assert told.texts == ["t:a", "|", "t:I can", "t:not", "|", "t:b"]
    assert told.progress.has_refusal
    assert Taken(f.refusal("no")).texts == ["t:no"]
    assert not Taken(f.chunk({"refusal": None, "content": "a"}), f.refusal("")).progress.has_refusal


def test_a_whole_message_in_the_place_of_its_pieces() -> None:
    choice = {"message": {"content": "whole"}, "finish_reason": "stop"}
    told = Taken(f.event(choices=[choice]))

    assert (told.texts, told.progress.finish_reason) == (["t:whole"], "stop")


def test_a_message_that_repeats_what_was_streamed_is_not_told_again() -> None:
    def both(delta: str, whole: str) -> bytes:
        return f.event(choices=[{"delta": {"content": delta}, "message": {"content": whole}}])

    assert Taken(
        both("Hello", "Hello"), both(" you", "Hello you"), both("", "Hello you")
    ).texts == [
        *("t:Hello", "t: you"),
    ]
    assert Taken(f.event(choices=[{"delta": {}, "message": {"content": "whole"}}])).texts == [
        "t:whole"
    ]


def of_the_end(**message: Any) -> bytes:
    return f.event(choices=[{"delta": {}, "message": message, "finish_reason": "stop"}])


def test_what_only_the_last_message_has_is_told() -> None:
    url = {"type": "url_citation", "url": "https://a.example"}
    picture = {"image_url": {"url": "data:,x"}}
    told = Taken(
        f.text("Hello"),
        f.call(f.head()),
        f.event(choices=[{"message": {"tool_calls": [f.head("early")]}}]),
        of_the_end(
            content="Hello",
            tool_calls=[f.head(args="{}"), f.head("c2", args="{}"), f.head(None, args="{}")],
            annotations=[url],
            images=[picture],
        ),
        of_the_end(images=[picture]),
    )

    assert told.texts[0] == "t:Hello"
    assert [fields["call_id"] for _, fields in told.events if "args" in fields] == ["c1", "c2"]
    assert [kind for kind, _ in told.events].count("FilePart") == 1
    assert [plain_event(each)[1]["url"] for each in told.progress.finish()] == [url["url"]]


def test_a_message_without_ids_has_all_calls_of_an_answer_or_none() -> None:
    told = Taken(f.text("a"), of_the_end(tool_calls=[f.head(None, index=0), f.head(None, index=1)]))

    assert [fields["call_id"] for _, fields in told.events if "args" in fields] == [
        *("p1:call-1", "p1:call-2")
    ]


def test_a_message_has_the_text_behind_reasoning_that_was_streamed() -> None:
    assert Taken(f.thought("hm"), of_the_end(content="a")).texts == ["r:hm", "t:a"]
    assert Taken(f.refusal("no"), of_the_end(content="a")).texts == ["t:no"]


def test_the_words_of_a_tool_are_the_output_of_its_call() -> None:
    def of_tool(content: Any, **fields: Any) -> bytes:
        return f.chunk({"role": "tool", "content": content, **fields})

    told = Taken(
        *(f.text("I look."), f.call(f.head()), f.finished("tool_calls")),
        of_tool("", tool_call_id="c1"),
        of_tool('{"c":21}', tool_call_id="c1"),
        of_tool("more", tool_call_id="c1"),
        of_tool("of none"),
        of_tool([{"type": "text", "text": "x"}], tool_call_id=2),
        f.text("Sunny."),
    )

    assert told.texts == ["t:I look.", "t:Sunny."]
    assert [
        (fields["call_id"], json.loads(fields["result"]))
        for _, fields in told.events
        if "result" in fields
    ] == [("c1", {"c": 21}), ("2", [{"type": "text", "text": "x"}])]
    assert told.stats.left_out == {"output of a tool": 2}


def test_a_field_of_a_wrong_type_hides_no_text() -> None:
    def odd(more: dict[str, Any] | None = None, **fields: Any) -> bytes:
        return f.event(choices=[{"index": 0, "delta": {"content": "a", **(more or {})}, **fields}])

    values: list[Any] = [{}, [], False, 0, 0.0, ""]
    frames = (
        *(odd(index=value) for value in (*values, "0", None)),
        *(odd(finish_reason=value) for value in values),
        *(odd({"role": value}) for value in (*values, 7, ["tool"])),
        *(odd({"tool_calls": value}) for value in (*values, 7, "x")),
        odd({"tool_calls": [{"index": "0", "id": 1, "function": {"name": "w"}}]}),
        odd({"tool_calls": [{"index": 0.5, "function": {"name": "x" * 600, "arguments": 7}}]}),
    )

    for frame in frames:
        assert "t:a" in Taken(frame).texts
    assert Taken(*frames[-4:-2]).stats.left_out == {"tool_calls": 2}
    assert Taken(odd(finish_reason={"type": "stop"})).progress.finish_reason == "unknown"
    for other in (1, "1", 2.5):
        assert Taken(odd(index=other)).stats.left_out == {"choice": 1}


def test_the_form_before_there_were_several_calls() -> None:
    pieces = [{"name": "add", "arguments": ""}, {"arguments": '{"a":1}'}]
    told = Taken(
        *(f.chunk({"function_call": piece}) for piece in pieces), f.finished("function_call")
    )

    assert told.events[-1][1]["args"] == '{"a":1}'
    assert told.events[-1][1]["tool_name"] == "add"


def test_other_choices_logprobs_and_audio_are_counted() -> None:
    told = Taken(
        f.event(choices=[{"index": 1, "delta": {"content": "other"}}]),
        f.event(choices=[{"index": 0, "delta": {"content": "a"}, "logprobs": {"content": []}}]),
        f.event(choices=[{"index": 0, "delta": {"content": "b"}, "logprobs": None}]),
        f.chunk({"audio": {"data": "QUJD"}}),
    )

    assert told.texts == ["t:a", "t:b"]
    assert told.stats.left_out == {"choice": 1, "logprobs": 1, "audio": 1}


def test_citations_are_pages_once_and_at_the_end() -> None:
    def cited(url: str) -> dict[str, Any]:
        return {"type": "url_citation", "url_citation": {"url": url, "title": "A"}}

    told = Taken(
        f.chunk({"annotations": [cited("https://a.example"), cited("javascript:x"), {"no": 1}]}),
        f.chunk({"content": "a"}, citations=["https://b.example", "https://a.example", 7]),
        f.chunk({"annotations": [{"type": "url_citation", "url": "https://c", "title": "C"}]}),
        f.chunk({"annotations": [{"url_citation": "https://d"}, {"url": "https://e", "title": 7}]}),
        f.chunk({"annotations": {"url": "https://lost"}}),
    )

    assert told.texts == ["t:a"]
    sources = [plain_event(source)[1] for source in told.progress.finish()]
    assert [(source["url"], source.get("title")) for source in sources] == [
        ("https://a.example", "A"),
        ("https://b.example", None),
        *(("https://c", "C"), ("https://d", None), ("https://e", None)),
    ]
    assert told.stats.left_out == {"citation": 4}


def test_pictures_are_files_if_they_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PICTURE_MAX", 40)
    urls = ["data:image/webp;base64,QUJD", "data:,x", "https://h/a", "data:image/png," + "x" * 40]
    pictures = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    told = Taken(
        f.chunk({"images": [*pictures, {"no": "url"}]}),
        f.chunk({"images": [{"image_url": "https://h/b"}, "https://h/c", {"url": "https://h/d"}]}),
        f.chunk({"images": [{"image_url": {"url": "javascript:alert(1)"}}]}),
    )

    assert [(fields["url"], fields["mime"]) for _, fields in told.events] == [
        (urls[0], "image/webp"),
        (urls[1], "image/png"),
        (urls[2], "image/png"),
        *((f"https://h/{name}", "image/png") for name in "bcd"),
    ]
    assert told.stats.left_out == {"picture": 3}


@pytest.mark.parametrize(
    ("frames", "usage"),
    [
        ([f.usage(n=1), f.usage(n=2)], b'{"n": 2}'),
        ([f.finished(usage={"n": 1}), f.event(choices=[], usage=None)], b'{"n": 1}'),
        ([f.event(choices=[], x_groq={"usage": {"n": 3}})], b'{"n": 3}'),
        ([f.event(choices=[], x_groq={"id": "r"}, usage=7)], None),
        ([f.event(choices=[], usage={"n": "x" * 70_000})], None),
    ],
)
def test_the_last_usage_counts_wherever_it_stands(frames: list[bytes], usage: bytes | None) -> None:
    found = Taken(*frames).progress.usage

    assert (None if found is None else bytes(found)) == usage


def chunk(frame: bytes) -> Chunk:
    decoded = decode(frame)
    assert isinstance(decoded, Chunk)
    return decoded


def test_a_plain_delta_takes_the_short_way_and_nothing_else_does() -> None:
    told = Taken(f.text("a"))
    plain = told.progress.plain_text

    assert plain(chunk(f.text("b"))) == "b"
    assert plain(chunk(f.event(choices=[{"delta": {"content": "b"}, "logprobs": None}]))) == "b"
    assert plain(chunk(f.chunk({"content": "b", "role": "assistant"}))) == "b"
    assert plain(chunk(f.chunk({"content": "b", "role": None}))) == "b"
    assert Progress("p1", FrameStats()).plain_text(chunk(f.text("b"))) is None
    for more in (
        f.text(""),
        f.text([]),
        f.chunk(),
        f.event(choices=[]),
        f.event(choices=[{"delta": {"content": "b"}}] * 2),
        f.event(choices=[{"delta": {"content": "b"}, "index": 1}]),
        f.event(choices=[{"delta": {"content": "b"}, "logprobs": {}}]),
        f.event(choices=[{"delta": {"content": "b"}, "message": {}}]),
        f.event(choices=[{"delta": {"content": "b"}, "error": {"message": "x"}}]),
        f.chunk({"content": "b", "role": "tool"}),
        f.chunk({"content": "b", "role": 7}),
        f.event(choices=[{"delta": None}]),
        f.chunk({"content": "b"}, "stop"),
        f.chunk({"content": "b"}, usage={}),
        f.chunk({"content": "b"}, error={}),
        f.chunk({"content": "b"}, citations=[]),
        f.chunk({"content": "b"}, x_groq={}),
        *(
            f.chunk({"content": "b", name: {} if name in {"audio", "function_call"} else [{}]})
            for name in ("tool_calls", "function_call", "audio", "images", "annotations")
        ),
        *(
            f.chunk({"content": "b", name: "x"})
            for name in ("reasoning", "reasoning_content", "refusal")
        ),
    ):
        assert plain(chunk(more)) is None
    told.progress.take(chunk(f.finished()))
    assert plain(chunk(f.text("b"))) is None


def test_text_behind_the_models_calls_says_that_the_tools_ran() -> None:
    told = Taken(f.call(f.head(args="{}")), f.finished("tool_calls"), f.text("It is sunny."))

    assert [kind for kind, _ in told.events[-2:]] == ["ToolUpdate", "TextDelta"]
    assert told.events[-2][1]["phase"].value == "completed"
    assert not told.progress.calls.are_open


def test_a_note_about_a_tool_ends_the_block() -> None:
    told = Taken(f.text("a"))
    for status in ("running", "running"):
        note = msgspec.json.decode(f.progress(status), type=ToolProgress)
        told.progress.tool_progress(note)

    assert told.progress.plain_text(chunk(f.text("b"))) is None


def test_reasoning_for_the_models_host_alone_is_counted() -> None:
    details = [{"type": "reasoning.encrypted", "data": "canary"}]
    taken = Taken(f.chunk({"reasoning_details": details}), f.text("a"))

    assert taken.texts == ["t:a"]
    assert taken.stats.left_out == {"reasoning_details": 1}
