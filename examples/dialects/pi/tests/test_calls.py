"""Calls, and what their results tell."""

import json
from typing import Any

import turnwire.dialect as td
from pi_dialect.calls import PARTIAL_BYTES_MAX
from played import Played

BASH = {"command": "ls"}


def shown(played: Played) -> list[tuple[str, str, Any]]:
    """The phases of calls, with the input, the output or the error of each."""
    given = []
    for update in played.of(td.ToolUpdate):
        raw = update.result or update.args
        fact = update.error or (None if raw is None else json.loads(bytes(raw)))
        phase = "preliminary" if update.preliminary else update.phase.value
        given.append((update.call_id, phase, fact))
    return given


def calling() -> Played:
    played = Played().begun()
    played.message(calls=[("c1", "bash", BASH)])
    played.event("tool_execution_start", toolCallId="c1", toolName="bash", args=BASH)
    return played


def result(*content: Any) -> Any:
    return {"content": list(content), "details": {"secret": 1}}


def finish(played: Played, given: Any, *, is_error: bool = False) -> None:
    played.event(
        "tool_execution_end", toolCallId="c1", toolName="bash", result=given, isError=is_error
    )


def test_an_input_is_told_once() -> None:
    played = calling()

    assert shown(played) == [("c1", "running", BASH)]
    assert "".join(each.text for each in played.of(td.ToolInputDelta)) == json.dumps(BASH)


def test_a_call_that_no_message_announced_has_an_input() -> None:
    played = Played().begun()
    played.event("tool_execution_start", toolCallId="c1", toolName="bash")
    played.event("tool_execution_start", toolCallId="c2", toolName="bash", args=BASH)

    assert shown(played) == [("c1", "running", {}), ("c2", "running", BASH)]


def test_an_old_pi_names_a_call_at_its_end() -> None:
    played = Played().begun()
    played.start()
    played.update("toolcall_start", 0)
    played.update("toolcall_delta", 0, delta="{}")
    played.update("toolcall_end", 0, toolCall={"type": "toolCall"})
    played.update("toolcall_end", 0)
    assert not shown(played)
    played.end({"type": "toolCall", "id": "c1", "name": "bash", "arguments": BASH})

    assert shown(played) == [("c1", "running", BASH)]


def test_the_message_of_a_result_tells_it_if_nothing_did() -> None:
    played = calling()
    played.result("c1", "bash", "notes.txt")
    played.result("c1", "bash", "again")
    played.result("c9", "bash", "unknown")

    assert shown(played)[1:] == [("c1", "completed", "notes.txt")]


def test_a_result_is_told_once() -> None:
    played = calling()
    finish(played, result({"type": "text", "text": "notes.txt"}))
    played.result("c1", "bash", "notes.txt")

    assert shown(played)[1:] == [("c1", "completed", "notes.txt")]


def test_texts_of_a_result_are_joined_and_images_are_files() -> None:
    played = calling()
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    finish(
        played,
        result(
            {"type": "text", "text": "one "},
            image,
            {"type": "text", "text": "two"},
            {"type": "video"},
            7,
        ),
    )

    assert shown(played)[1:] == [("c1", "completed", "one two")]
    assert played.of(td.FilePart) == [td.FilePart("data:image/png;base64,aGk=", "image/png")]
    assert played.turn.frame_stats.left_out == {"part of a result": 1}


def test_a_result_of_another_shape_is_handed_on() -> None:
    for given in (["a", "b"], {"other": 1}, 7):
        played = calling()
        finish(played, given)
        assert shown(played)[1:] == [("c1", "completed", given)]


def test_no_result_is_one() -> None:
    played = calling()
    finish(played, None)

    assert shown(played)[1:] == [("c1", "completed", None)]


def test_an_error_has_a_text() -> None:
    for given, error in (
        (result({"type": "text", "text": "no such file"}), "no such file"),
        (result(), "The tool failed"),
    ):
        played = calling()
        finish(played, given, is_error=True)
        assert shown(played)[1:] == [("c1", "error", error)]


def test_progress_is_the_whole_so_far() -> None:
    played = calling()
    for given in (result(), result({"type": "text", "text": "line 1\n"})):
        played.event("tool_execution_update", toolCallId="c1", toolName="bash", partialResult=given)
    long = result({"type": "text", "text": "x" * PARTIAL_BYTES_MAX})
    played.event("tool_execution_update", toolCallId="c1", toolName="bash", partialResult=long)
    finish(played, result({"type": "text", "text": "line 1\n"}))
    late = result({"type": "text", "text": "late"})
    played.event("tool_execution_update", toolCallId="c1", toolName="bash", partialResult=late)

    assert shown(played)[1:] == [("c1", "preliminary", "line 1\n"), ("c1", "completed", "line 1\n")]
    assert played.turn.frame_stats.left_out == {"progress of a tool": 1}


def test_a_call_of_an_attempt_that_failed_gets_its_outcome() -> None:
    played = Played().begun()
    played.start()
    played.update("toolcall_start", 0, id="c1", toolName="bash")
    played.end(reason="error", error="terminated")
    played.attempt_ends(will_retry=True)
    for attempt in (1, 2):
        played.event("auto_retry_start", attempt=attempt, maxAttempts=3)

    assert shown(played) == [("c1", "error", "The attempt failed, and is made again")]
    assert not played.of(td.DataPart), "no text was shown"


def test_the_tokens_of_all_messages_are_added_up() -> None:
    played = calling()
    finish(played, result())
    played.message("Done.")
    played.settle()

    usage = played.verdict.usage
    assert usage is not None
    assert json.loads(bytes(usage)) == {
        "inputTokens": 1300,
        "outputTokens": 40,
        "totalTokens": 1340,
        "cachedInputTokens": 0,
    }


def test_counts_that_cannot_be_read_are_none() -> None:
    played = Played().begun()
    played.end({"type": "text", "text": "Done."}, usage="many")
    played.settle()

    assert played.verdict.usage is None
