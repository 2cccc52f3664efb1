"""Why models end, in the words of their hosts."""

from typing import Any

import pytest

from turnwire.dialects.openai_chat import reasons


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("stop", "stop"),
        ("MAX_TOKENS", "max_tokens"),
        ("content-filter", "content_filter"),
        ("", None),
        (None, None),
        ("null", None),
        ({}, None),
        ({"type": "stop"}, "unknown"),
        (7, "unknown"),
    ],
)
def test_a_reason_has_one_spelling(given: Any, reason: str | None) -> None:
    assert reasons.read(given) == reason


def test_a_reason_is_no_longer_than_a_word() -> None:
    assert len(reasons.read("x" * 1_000) or "") == 256


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        *(
            (whole, None)
            for whole in ("stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence")
        ),
        *((calls, None) for calls in ("tool_calls", "tool-calls", "function_call", "tool_use")),
        *((long, "length") for long in ("length", "max_tokens", "MAX_TOKENS", "model_length")),
        *((long, "length") for long in ("max_output_tokens", "max_length", "token_limit")),
        *((kept, "content-filter") for kept in ("content_filter", "content-filter", "SAFETY")),
        *((kept, "content-filter") for kept in ("RECITATION", "sensitive", "guardrail_intervened")),
        ("refusal", "refusal"),
        *((odd, "other") for odd in ("insufficient_system_resource", "abort", "network_error")),
        ("whatever", "other"),
        (7, "other"),
    ],
)
def test_what_is_not_known_as_whole_is_not_whole(given: Any, shown: str | None) -> None:
    reason = reasons.read(given)

    assert reason is not None
    assert reasons.cut_short(reason) == shown


@pytest.mark.parametrize(
    ("reason", "is_cut"), [("length", True), ("safety", True), ("stop", False), ("abort", False)]
)
def test_only_a_known_reason_says_that_an_answer_is_cut_short(reason: str, *, is_cut: bool) -> None:
    assert reasons.is_cut_short(reason) is is_cut
    assert not reasons.is_cut_short(None)
