"""Errors of a model or an agent, wherever they stand: one error, and its code for the log."""

from typing import Any

import pytest

from support import openai_chat_frames as f
from support.openai_chat_turn import played, protocol
from turnwire.core.turn.outcome import Outcome


@pytest.mark.parametrize(
    ("frames", "text"),
    [
        ([f.failed("boom", code="500")], "boom"),
        ([f.failed("boom"), f.DONE], "boom"),
        ([f.event(error="boom")], "boom"),
        ([f.event(object="error", message="boom", code=500)], "boom"),
        ([f.chunk(finish="error", error={"message": "boom"}), f.DONE], "boom"),
        ([f.chunk(error={"message": "boom"}), f.finished("error"), f.DONE], "boom"),
        ([f.failed("boom"), f.failed("again"), f.finished(), f.text("late")], "boom"),
        ([f.finished("error"), f.DONE], "Turn failed"),
        ([f.event(error={"code": 500})], '{"code": 500}'),
    ],
)
@pytest.mark.parametrize("before", [[], [f.started(), f.text("a"), f.call(f.head())]])
def test_each_error_in_mid_stream_is_one_error(
    before: list[bytes], frames: list[bytes], text: str
) -> None:
    turn = played(*before, *frames).leave()

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, text)
    assert turn.kinds.count("error") == 1
    turn.client.close()


def of_litellm(message: str, **fields: Any) -> bytes:
    return f.event(error={"message": message, "param": None, **fields})


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (of_litellm("litellm.RateLimitError: slow", type="throttling_error", code="429"), "429"),
        (of_litellm("litellm.Timeout: no answer", type="None", code="500"), "500"),
        (f.event(error="litellm.APIConnectionError: gone"), None),
    ],
    ids=["of the model host", "of the proxy", "as a text"],
)
def test_each_error_of_litellm_in_mid_stream_is_the_error_of_the_turn(
    frame: bytes, code: str | None
) -> None:
    turn = played(f.text("a"), frame, f.DONE).leave()

    assert turn.turn.outcome is Outcome.FAILED
    assert (turn.client.error or "").startswith("litellm.")
    assert turn.protocol.frame_stats.error_code == code


def test_an_error_of_the_choice_is_that_of_the_turn() -> None:
    failed = {"index": 0, "delta": {"content": "b"}, "error": {"code": 502, "message": "boom"}}
    turn = played(f.text("a"), f.event(choices=[failed]))

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, "boom")
    assert turn.client.text == "ab"
    other = played(f.text("a"), f.event(choices=[failed | {"index": 1}]), f.finished(), f.DONE)
    assert other.turn.outcome is Outcome.COMPLETED


@pytest.mark.parametrize(("reason", "is_cut"), [("length", True), ("stop", False), (None, False)])
def test_the_error_of_an_answer_that_is_cut_short_is_for_the_log(
    reason: str | None, *, is_cut: bool
) -> None:
    error = {"message": "Response truncated", "code": "truncated"}
    turn = played(f.text("a"), f.chunk({}, reason, error=error, hermes={"partial": True}), f.DONE)

    assert turn.protocol.frame_stats.error_code == "truncated"
    if is_cut:
        assert turn.client.metadata == {"finishReason": "length"}
        assert turn.left_out == {"error of an answer that is cut short": 1}
    assert turn.turn.outcome is (Outcome.COMPLETED if is_cut else Outcome.FAILED)


@pytest.mark.parametrize("error", ["", {}, [], None, False])
def test_an_empty_error_beside_content_is_none(error: Any) -> None:
    turn = played(f.chunk({"content": "a"}, error=error), f.text("b"), f.finished(), f.DONE)

    assert (turn.turn.outcome, turn.client.text) == (Outcome.COMPLETED, "ab")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"message": "x", "code": "rate_limit_exceeded", "type": "x"}, "rate_limit_exceeded"),
        ({"message": "x", "code": 500}, "500"),
        ({"message": "x", "code": None, "type": "agent_error"}, "agent_error"),
        ({"message": "x", "code": None}, None),
        ("x", None),
        ({"message": "x" * 70_000, "code": "x"}, None),
    ],
)
def test_the_code_of_an_error_is_for_the_log(error: Any, code: str | None) -> None:
    assert protocol(f.event(error=error)).frame_stats.error_code == code
    assert protocol(f.event(object="error", message="x", code="c")).frame_stats.error_code == "c"
