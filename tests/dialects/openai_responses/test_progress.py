"""What the events of a response tell."""

from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from support.openai_responses_taken import Taken
from turnwire.dialects.openai_responses import progress as module


def test_text_behind_a_call_belongs_to_the_item_before_it_and_is_told_once() -> None:
    """The agent goes on with its first item, and says both halves again in the end."""
    ran = f.output([{"type": "input_text", "text": "hi"}])
    told = Taken(
        f.added(f.message(), 0),
        f.text("I run it. "),
        f.added(f.call(args='{"a":1}')),
        f.item_done(f.call(args='{"a":1}')),
        f.added(ran, 2),
        f.item_done(ran, 2),
        f.text("It said hi."),
        f.text_done("I run it. It said hi."),
        f.item_done(f.message("I run it. It said hi."), 0),
    )

    assert told.brief == ["I run it. ", "pending", "running", "completed", "It said hi."]


def test_an_answer_without_deltas() -> None:
    told = Taken(f.item_done(f.message("a", "b"), 0), f.text_done("c", 1))

    assert told.brief == ["a", "TextBreak", "b", "TextBreak", "c"]


@pytest.mark.parametrize(
    "frames",
    [
        [f.summary("a"), f.summary("b", part=1)],
        [f.thought("a"), f.thought("b", 1)],
        [f.item_done({"type": "reasoning", "summary": [{"text": "a"}, {"text": "b"}]}, 0)],
        [
            f.item_done({"type": "reasoning", "content": [{"text": "a"}, {"text": 7}]}, 0),
            f.event("response.reasoning_text.done", output_index=5, content_index=0, text="b"),
        ],
        [
            f.summary("a"),
            f.event("response.reasoning_summary_text.done", output_index=0, text="a"),
            f.summary("b", 1),
        ],
    ],
)
def test_reasoning_has_one_block_for_each_part(frames: list[bytes]) -> None:
    told = Taken(*frames)

    assert told.brief == ["a", "TextBreak", "b"]
    assert {kind for kind, _ in told.events} == {"ReasoningDelta", "TextBreak"}


def test_a_refusal() -> None:
    told = Taken(
        f.text("So: "),
        f.refusal("No."),
        f.event("response.refusal.done", output_index=0, content_index=0, refusal="No."),
        f.item_done({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}, 0),
    )

    assert told.brief == ["So: ", "TextBreak", "No."]
    assert told.progress.texts.has_refusal


@pytest.mark.parametrize(
    ("frames", "given"),
    [
        (f.whole_call(given='{"a":1}'), '{"a":1}'),
        (
            [
                f.added(f.tool("mcp_call", name="x", arguments="")),
                f.event("response.mcp_call_arguments.delta", output_index=1, delta="{}"),
                f.event("response.mcp_call_arguments.done", output_index=1, arguments="{}"),
            ],
            "{}",
        ),
        (
            [
                f.added({"type": "custom_tool_call", "call_id": "c1", "name": "x", "input": ""}),
                f.event("response.custom_tool_call_input.delta", output_index=1, delta="now"),
                f.event("response.custom_tool_call_input.done", output_index=1, input="now"),
            ],
            '"now"',
        ),
        (
            [
                f.added(f.tool("code_interpreter_call", code="")),
                f.event("response.code_interpreter_call_code.delta", output_index=1, delta="1"),
                f.event("response.code_interpreter_call_code.done", output_index=1, code="1"),
                f.item_done(f.tool("code_interpreter_call", code="1")),
            ],
            '{"code":"1"}',
        ),
    ],
)
def test_each_kind_of_input(frames: list[bytes], given: str) -> None:
    inputs = [fields["args"] for _, fields in Taken(*frames).events if "args" in fields]

    assert inputs[-1:] == [given] or given == '{"code":"1"}'


@pytest.mark.parametrize(
    ("item", "outcome"),
    [
        (f.tool("web_search_call", action={"query": "x"}), ("completed", '{"status":"completed"}')),
        (f.tool("mcp_call", name="x", output="21"), ("completed", '"21"')),
        (f.tool("mcp_call", name="x", error="no"), ("error", "no")),
        (f.tool("mcp_call", name="x", error={"message": "no"}), ("error", "no")),
        (f.tool("file_search_call", status="failed"), ("error", "Tool execution failed")),
    ],
)
def test_tools_of_the_server_have_their_outcome_in_their_item(
    item: dict[str, Any], outcome: tuple[str, str]
) -> None:
    told = Taken(f.added({**item, "status": "in_progress"}), f.item_done(item))
    _, last = told.events[-1]

    assert told.brief == ["pending", "running", outcome[0]]
    assert last.get("result", last.get("error")) == outcome[1]


@pytest.mark.parametrize(
    ("item", "outcome"),
    [
        (f.output("x", status="incomplete"), ("error", "x")),
        (f.output(None, status="failed"), ("error", "Tool execution failed")),
        (f.output("x", error="broken"), ("error", "broken")),
        (f.output("x"), ("completed", '"x"')),
    ],
)
def test_outputs_of_an_agent(item: dict[str, Any], outcome: tuple[str, str]) -> None:
    begun = f.added({**item, "status": "in_progress"}, 2)
    told = Taken(*f.whole_call(), begun, f.item_done(item, 2))
    _, last = told.events[-1]

    assert told.brief[-1] == outcome[0]
    assert last.get("result", last.get("error")) == outcome[1]


def test_pictures_are_files_if_they_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PICTURE_MAX", 40)
    shown = f.output([{"image_url": "https://i"}, {"image_url": "data:image/gif;base64,QQ=="}])
    told = Taken(
        f.item_done(f.tool("image_generation_call", result="QUJD"), 0),
        *f.whole_call(),
        f.item_done(shown, 2),
        f.item_done(shown, 2),
        f.item_done(f.tool("image_generation_call", id="i2", result="Q" * 50), 3),
    )

    files = [fields for kind, fields in told.events if kind == "FilePart"]
    assert [(each["url"], each["mime"]) for each in files] == [
        ("data:image/png;base64,QUJD", "image/png"),
        ("https://i", "image/png"),
        ("data:image/gif;base64,QQ==", "image/gif"),
    ]
    assert told.stats.left_out == {"picture": 1}


def test_citations_are_pages_once_and_at_the_end() -> None:
    cited = {"type": "url_citation", "url": "https://a", "title": "A"}
    content = [{"type": "output_text", "text": "a", "annotations": [cited]}]
    search = f.tool("web_search_call", action={"sources": [{"url": "https://b"}]})
    told = Taken(
        f.item_done(search, 0),
        f.event("response.output_text.annotation.added", annotation=cited),
        f.event("response.output_text.annotation.added", annotation={"type": "file_citation"}),
        f.item_done({"type": "message", "content": content}, 1),
    )

    assert [source.url for source in told.progress.finish() if hasattr(source, "url")] == [
        "https://b",
        "https://a",
    ]
    assert told.stats.left_out == {"citation": 1}


def test_what_is_not_shown_is_counted() -> None:
    told = Taken(
        f.event("response.audio.delta", delta="QUJD"),
        f.event("response.audio.transcript.delta", delta="x"),
        f.event("response.image_generation_call.partial_image", partial_image_b64="QUJD"),
        f.item_done({"type": "mcp_list_tools", "tools": []}),
        f.item_done(f.output("x", call_id="")),
        f.item_done(f.asks("")),
        f.added({"type": "reasoning"}),
        f.added({"no": "type"}),
        f.item_done({"no": "type"}),
    )

    assert told.events == []
    assert told.stats.left_out == {
        "response.audio.delta": 1,
        "response.audio.transcript.delta": 1,
        "response.image_generation_call.partial_image": 1,
        "item": 3,
        "output of an unknown call": 1,
        "request for an approval": 1,
    }


def test_a_request_for_an_approval_waits() -> None:
    told = Taken(f.added(f.asks()), f.item_done(f.asks()), f.item_done(f.asks()))

    assert told.brief == ["running"]
    assert list(told.progress.asked.requests) == ["mcpr_1/files"]
    assert told.progress.calls.open_ids == ["mcpr_1"]


def test_items_are_kept_for_the_next_response() -> None:
    told = Taken(f.item_done(f.message("a"), 0), f.item_done(f.asks()))
    assert len(told.progress.items.all) == 2
    assert told.progress.kept_bytes > sum(map(len, told.progress.items.all))
    assert Taken(f.item_done(f.message("a"), 0), is_kept=False).progress.items.all == []
    told.progress.forget()
    assert told.progress.items.all == []


@pytest.mark.parametrize(
    ("call", "output", "shown"),
    [
        (
            f.tool("shell_call", call_id="c1", action={"commands": ["ls"]}),
            {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "a"}]},
            '[{"stdout": "a"}]',
        ),
        (
            f.tool("local_shell_call", call_id="c1", action={"command": ["ls"]}),
            {"type": "local_shell_call_output", "id": "local_shell_call_1", "output": "a"},
            '"a"',
        ),
        (
            f.tool("local_shell_call", call_id="c1", action={"command": ["ls"]}),
            {"type": "local_shell_call_output", "id": "c1", "output": "a"},
            '"a"',
        ),
        (
            f.tool("apply_patch_call", call_id="c1", operation={"path": "a"}),
            {"type": "apply_patch_call_output", "call_id": "c1", "output": "done"},
            '"done"',
        ),
        (
            f.tool("computer_call", call_id="c1", action={"type": "wait"}),
            {"type": "computer_call_output", "call_id": "c1", "output": {"type": "screenshot"}},
            '{"type": "screenshot"}',
        ),
    ],
)
def test_built_in_tools_whose_outputs_are_items(
    call: dict[str, Any], output: dict[str, Any], shown: str
) -> None:
    told = Taken(f.added(call, 0), f.item_done(call, 0), f.item_done(output, 1))

    assert told.brief == ["pending", "running", "completed"]
    assert told.events[1][1]["args"] != "{}"
    assert told.events[-1][1]["result"] == shown
    assert told.stats.left_out == {}


def test_a_search_for_tools_and_lists_of_tools() -> None:
    told = Taken(
        f.item_done(f.tool("tool_search_call", call_id=None, arguments={"q": 1}), 0),
        f.item_done({"type": "tool_search_output", "tools": []}, 1),
        f.item_done({"type": "mcp_list_tools", "tools": [], "error": "unreachable"}, 2),
        f.item_done({"type": "mcp_list_tools", "tools": [], "error": None}, 3),
    )

    assert told.brief == ["pending", "running", "completed"]
    assert told.stats.left_out == {"item": 2, "list of tools that failed": 1}


def test_what_cannot_be_read_inside_of_an_item_is_counted() -> None:
    cited = [{"type": "url_citation", "url": 7}, 7]
    content = [{"type": "output_audio"}, 7, {"text": {"value": "a"}}]
    told = Taken(
        f.item_done({"type": "message", "content": content}, 0),
        f.item_done({"type": "message", "content": "plain"}, 1),
        f.item_done({"type": "message", "content": [{"text": "", "annotations": cited}]}, 2),
        f.item_done(f.tool("web_search_call", action={"sources": [{"url": 7}]}), 3),
        f.item_done(f.tool("image_generation_call", id="i", result="QQ==", output_format="x"), 4),
        *f.whole_call(index=5),
        f.item_done(f.output([{"image_url": "javascript:alert(1)"}]), 6),
    )

    assert told.brief[0] == "plain"
    assert told.stats.left_out == {"part of a message": 3, "citation": 3, "picture": 1}


def test_the_last_usage_counts() -> None:
    told = Taken()
    for usage in (b'{"n":1}', b'{"n":2}', b"7", b'{"n":"%b"}' % (b"x" * 70_000)):
        told.progress.note_usage(Raw(usage))

    assert told.progress.usage == Raw(b'{"n":2}')


def test_items_of_a_server_that_sends_no_index_are_known_by_their_ids() -> None:
    """As llama.cpp does."""

    def event(kind: str, **fields: Any) -> bytes:
        return f.event(f"response.{kind}", **fields)

    calls = [f.call(name, id=f"fc_{name}") for name in ("c1", "c2")]
    told = Taken(
        event("reasoning_text.delta", item_id="rs_1", delta="Hm."),
        event("output_item.added", item={"type": "message", "id": "msg_1"}),
        event("output_text.delta", item_id="msg_1", delta="I "),
        event("output_text.delta", item_id="msg_1", delta="look."),
        event("output_text.done", item_id="msg_1", text="I look."),
        *(event("output_item.added", item=each) for each in calls),
        event("function_call_arguments.delta", item_id="fc_c2", delta="[2]"),
        event("function_call_arguments.delta", item_id="fc_c1", delta="[1]"),
        *(event("output_item.done", item=each) for each in calls),
        event("output_text.delta", item_id="msg_2", delta="So."),
        event("output_text.delta", delta=" And?"),
    )

    assert [fields["text"] for kind, fields in told.events if kind == "TextDelta"] == [
        *("I ", "look.", "So.", " And?"),
    ]
    inputs = {fields["call_id"]: fields["args"] for _, fields in told.events if "args" in fields}
    assert inputs == {"c1": "[1]", "c2": "[2]"}
    assert told.stats.left_out == {}
    told.progress.next_response()
    assert told.progress._indexes == {}


def test_an_item_whose_deltas_had_no_index_is_the_same() -> None:
    """And the other way round: an item that was added with its index is known by its id, too."""

    def delta(word: str, **fields: Any) -> bytes:
        return f.event("response.output_text.delta", delta=word, **fields)

    bare = f.event("response.output_item.done", item=f.message("a"))
    for frames in (
        [delta("a"), bare],
        [delta("a"), f.item_done(f.message("a"), 3)],
        [delta("a", item_id="msg_1"), f.item_done(f.message("a"), 0)],
        [delta("a", item_id="x"), f.item_done(f.message("a"), 0)],
        [delta("a", output_index=2), bare],
        [f.added(f.message(), 0), delta("a", item_id="msg_1"), f.item_done(f.message("a"), 0)],
        [delta("a"), f.text_done("a"), f.item_done(f.message("a"), 0)],
    ):
        assert Taken(*frames).brief == ["a"]
    both = Taken(
        *(delta("a", item_id="m1"), delta("b", item_id="m2")),
        *(
            f.item_done(f.message(word, id=f"m{index + 1}"), index)
            for index, word in enumerate("ab")
        ),
    )
    assert both.brief == ["a", "TextBreak", "b"]


@pytest.mark.parametrize(("encrypted", "count"), [("canary", 1), (None, 0), ("", 0)])
def test_encrypted_reasoning_is_counted_once(encrypted: str | None, count: int) -> None:
    item: dict[str, Any] = f.message(type="reasoning", id="r1", summary=[])
    item["encrypted_content"] = encrypted
    told = Taken(f.added(item, 0), f.item_done(item, 0))

    assert told.stats.left_out.get("encrypted_content", 0) == count
