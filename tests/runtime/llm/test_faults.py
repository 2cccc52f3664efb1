import re
from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire_agent.llm import faults
from turnwire_agent.llm.faults import Fault, FaultKind, of_error, of_response

NOW = 1_795_647_600.0
"""Wed, 25 Nov 2026 23:00:00 GMT."""


def openai(message: str, kind: str | None, code: str | int | None = None) -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(message: str, kind: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def google(
    code: int, message: str, status: str, *details: Mapping[str, object]
) -> dict[str, dict[str, object]]:
    return {"error": {"code": code, "message": message, "status": status, "details": list(details)}}


RETRY_INFO = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}
PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel"}]}
PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
KEY_INVALID = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}

RESPONSES: list[tuple[int, object, FaultKind, str]] = [
    # The kind and the code that a response tells, by its status and its body.
    (401, openai("Incorrect API key", "invalid_request_error", "invalid_api_key"),
     "unauthorized", "invalid_api_key"),
    (404, openai("No such model", "invalid_request_error", "model_not_found"),
     "not-found", "model_not_found"),
    (429, openai("Slower", "requests", "rate_limit_exceeded"),
     "rate-limited", "rate_limit_exceeded"),
    (429, openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
     "quota", "insufficient_quota"),
    (429, openai("Slower", "insufficient_quota"), "quota", "insufficient_quota"),
    (500, openai("Oh", "server_error"), "server", "server_error"),
    (400, openai("Bad", "invalid_request_error"), "bad-request", "invalid_request_error"),
    (400, openai("Flagged", "invalid_request_error", "invalid_prompt"),
     "refused", "invalid_prompt"),
    (400, openai("Filtered", None, "content_filter"), "refused", "content_filter"),
    (503, openai("Slow down", "server_error", "slow_down"), "overloaded", "slow_down"),
    (402, openai("Insufficient Balance", "unknown_error", "invalid_request_error"),
     "quota", "invalid_request_error"),
    # llama.cpp
    (400, openai("the request exceeds it", "exceed_context_size_error", 400),
     "context-overflow", "exceed_context_size_error"),
    (503, openai("Loading model", "unavailable_error", 503), "overloaded", "unavailable_error"),
    (501, openai("no embeddings here", "not_supported_error", 501),
     "bad-request", "not_supported_error"),
    # Anthropic
    (401, anthropic("invalid x-api-key", "authentication_error"),
     "unauthorized", "authentication_error"),
    (403, anthropic("no", "permission_error"), "forbidden", "permission_error"),
    (404, anthropic("model: x", "not_found_error"), "not-found", "not_found_error"),
    (413, anthropic("Request exceeds the maximum size", "request_too_large"),
     "too-large", "request_too_large"),
    (429, anthropic("Slower", "rate_limit_error"), "rate-limited", "rate_limit_error"),
    (529, anthropic("Overloaded", "overloaded_error"), "overloaded", "overloaded_error"),
    (400, anthropic("Your credit balance is too low", "invalid_request_error"),
     "quota", "invalid_request_error"),
    # Google
    (400, google(400, "Bad", "INVALID_ARGUMENT"), "bad-request", "INVALID_ARGUMENT"),
    (400, google(400, "Key", "INVALID_ARGUMENT", KEY_INVALID), "unauthorized", "API_KEY_INVALID"),
    (403, google(403, "No", "PERMISSION_DENIED"), "forbidden", "PERMISSION_DENIED"),
    (429, google(429, "Slower", "RESOURCE_EXHAUSTED", PER_MINUTE),
     "rate-limited", "RESOURCE_EXHAUSTED"),
    (429, google(429, "Tomorrow", "RESOURCE_EXHAUSTED", PER_DAY), "quota", "RESOURCE_EXHAUSTED"),
    (503, [google(503, "Overloaded", "UNAVAILABLE")], "overloaded", "UNAVAILABLE"),
    (504, google(504, "Late", "DEADLINE_EXCEEDED"), "timeout", "DEADLINE_EXCEEDED"),
    # Others
    (404, {"error": "model 'x' not found"}, "not-found", ""),
    (422, {"detail": [{"loc": ["body"], "msg": "Field required"}]}, "bad-request", ""),
    (400, {"object": "error", "message": "Bad", "type": "BadRequestError", "code": 400},
     "bad-request", "BadRequestError"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "kind", "code"), RESPONSES)
def test_a_response(status: int, body: object, kind: FaultKind, code: str) -> None:
    fault = of_response(status, {}, msgspec.json.encode(body), NOW)

    assert (fault.kind, fault.code, fault.status) == (kind, code, status)
    assert fault.message


EVENTS: list[tuple[object, FaultKind]] = [
    # What an error in a stream whose status was 200 tells.
    (anthropic("Overloaded", "overloaded_error"), "overloaded"),
    (anthropic("Internal server error", "api_error"), "server"),
    (anthropic("Late", "timeout_error"), "timeout"),
    (google(503, "The model is overloaded.", "UNAVAILABLE"), "overloaded"),
    (google(500, "An internal error", "INTERNAL"), "server"),
    ({"code": "server_error", "message": "The model failed"}, "server"),
    ({"code": "rate_limit_exceeded", "message": "Slower"}, "rate-limited"),
    ({"type": "error", "code": None, "message": "Oh", "sequence_number": 3}, "server"),
    (openai("Bad", "invalid_request_error"), "bad-request"),
    (openai("Provider returned error", None, 429), "rate-limited"),
    (openai("Provider returned error", "None", "502"), "server"),
    (openai("Context size has been exceeded.", "server_error", 500), "context-overflow"),
]


@pytest.mark.parametrize(("event", "kind"), EVENTS)
def test_an_event(event: object, kind: FaultKind) -> None:
    fault = of_error(event)

    assert (fault.kind, fault.status) == (kind, 0)


@pytest.mark.parametrize(
    ("status", "kind", "transient"),
    [
        (302, "bad-request", False),
        (400, "bad-request", False),
        (401, "unauthorized", False),
        (402, "quota", False),
        (403, "forbidden", False),
        (404, "not-found", False),
        (408, "timeout", True),
        (409, "server", True),
        (413, "too-large", False),
        (422, "bad-request", False),
        (429, "rate-limited", True),
        (500, "server", True),
        (501, "bad-request", False),
        (502, "server", True),
        (503, "overloaded", True),
        (504, "timeout", True),
        (529, "overloaded", True),
    ],
)
@pytest.mark.parametrize("body", [b"", b"<html>", b"null", b"7", b"[]", b'[1, "a"]', b"[" * 9000])
def test_a_status_alone(status: int, kind: FaultKind, *, transient: bool, body: bytes) -> None:
    fault = of_response(status, {}, body, NOW)

    assert (fault.kind, fault.transient) == (kind, transient)


OVERFLOWS = [
    (400, openai("This model's maximum context length is 8192 tokens. However, you requested 9000",
                 "invalid_request_error")),
    (400, openai("Too long", "invalid_request_error", "context_length_exceeded")),
    (400, openai("Your input exceeds the context window of this model.", "invalid_request_error")),
    (400, openai("The decoder prompt (length 9) is longer than the maximum model length of 8",
                 "BadRequestError", 400)),
    (400, openai("Prompt contains 9 tokens, too large for model with 8 maximum context length",
                 "invalid_request_error")),
    (400, openai("This model's maximum prompt length is 8 but the request contains 9", None)),
    (413, openai("Please reduce the length of the messages or completion.", None)),
    (400, openai("the request exceeds the available context size, try increasing it", None)),
    (500, openai("Context size has been exceeded.", "server_error", 500)),
    (400, {"error": "The number of tokens is greater than the context length (4096)."}),
    (400, anthropic("prompt is too long: 200001 tokens > 200000 maximum",
                    "invalid_request_error")),
    (413, anthropic("Prompt is too long", "request_too_large")),
    (400, anthropic("input length and `max_tokens` exceed context limit: 1 + 2 > 2",
                    "invalid_request_error")),
    (400, anthropic("Input is too long for requested model.", "invalid_request_error")),
    (400, google(400, "The input token count (9) exceeds the maximum number of tokens allowed (8)",
                 "INVALID_ARGUMENT")),
    (400, openai("invalid params, context window exceeds limit", None)),
    (400, openai("Your request exceeded model token limit: 8", "invalid_request_error")),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), OVERFLOWS)
def test_a_context_overflow_in_everybodys_words(status: int, body: object) -> None:
    for fault in (of_response(status, {}, msgspec.json.encode(body), NOW), of_error(body)):
        assert fault.kind == "context-overflow"
        assert not fault.transient


def test_each_pattern_of_an_overflow_is_needed() -> None:
    sentences = [of_error(body).message for _, body in OVERFLOWS]
    for pattern in faults.OVERFLOWS:
        assert any(re.search(pattern, each, re.IGNORECASE) for each in sentences), pattern


@pytest.mark.parametrize(
    "error",
    [
        openai("Request too large: reduce the length of the messages", "tokens",
               "rate_limit_exceeded"),
        openai("maximum context length", None),
    ],
)  # fmt: skip
def test_too_many_tokens_a_minute_is_no_overflow(error: object) -> None:
    assert of_response(429, {}, msgspec.json.encode(error), NOW).kind == "rate-limited"


def test_a_string_is_the_message() -> None:
    assert of_error("out of cheese") == Fault(kind="server", message="out of cheese")


@pytest.mark.parametrize("nonsense", [None, 7, True, [], {}, [[]], {"error": {"code": 10**5000}}])
def test_nonsense_is_the_servers_fault(nonsense: object) -> None:
    assert of_error(nonsense).kind == "server"


def test_an_object_without_a_sentence_is_shown_whole() -> None:
    assert of_error({"error": {"why": "cheese"}}).message == '{"error":{"why":"cheese"}}'
    assert of_error({"error": object()}).message == ""


def test_messages_and_codes_are_bounded_and_move_no_terminal() -> None:
    fault = of_error(openai("\x1b[31mred\n" + "x" * 9000, "server_error", "c" * 9000))

    assert fault.message.startswith("[31mred x")
    assert len(fault.message) < faults.MESSAGE_CHARS
    assert fault.code == "c" * faults.CODE_CHARS


def test_a_wait_is_googles_or_the_headers() -> None:
    body = msgspec.json.encode(google(429, "Slower", "RESOURCE_EXHAUSTED", PER_MINUTE, RETRY_INFO))

    assert of_response(429, {}, body, NOW).retry_after_s == 3
    assert of_response(429, {"Retry-After": "9"}, body, NOW).retry_after_s == 9
    assert of_error("slower").retry_after_s is None


ERRORS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "type", "code", "status", "details", "detail", "reason",
                 "violations", "retryDelay", "quotaId"]
            ),
            each,
            max_size=5,
        )
    ),
    max_leaves=20,
)  # fmt: skip


@given(ERRORS, st.integers(0, 999))
def test_whatever_a_server_sends_is_a_fault(error: object, status: int) -> None:
    for fault in (of_error(error), of_response(status, {}, msgspec.json.encode(error), NOW)):
        assert len(fault.message) <= faults.MESSAGE_CHARS
        assert len(fault.code) <= faults.CODE_CHARS
        assert not any(each < " " for each in fault.message + fault.code)
        fault.message.encode()


@given(st.binary(max_size=200))
def test_whatever_bytes_a_server_sends_are_a_fault(body: bytes) -> None:
    of_response(500, {}, body, NOW).message.encode()
