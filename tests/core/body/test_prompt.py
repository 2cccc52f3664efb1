import json
import time
from typing import Any

import pytest

from turnwire.core.body.prompt import TEXT_MAX, Prompt, extract
from turnwire.errors import BadRequest

HI = [{"type": "text", "text": "hi"}]
USER = {"role": "user", "parts": HI}
ANSWER = {"role": "assistant", "id": "a", "parts": [{"type": "text", "text": "hello"}]}
MIB_16 = 16 * 2**20
WRONG_TYPE = "The body has a field of a wrong type, or lacks one"
NOT_JSON = "The body is not valid JSON, or cuts a character in two"
TOO_DEEP = "The body is nested deeper than 64"
EMPTY = "The prompt is empty"


def body(*messages: Any, **fields: Any) -> bytes:
    return json.dumps({"messages": messages, **fields}, ensure_ascii=False).encode()


def text_part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def nested(depth: int, inner: str = "") -> bytes:
    """A prompt in a body that is nested as deep as this, in both kinds of brackets."""
    opening = "".join('{"a":' if level % 2 else "[" for level in range(depth - 1))
    closing = "".join("}" if level % 2 else "]" for level in reversed(range(depth - 1)))
    if depth % 2 and not inner:
        inner = "0"
    return f'{{"message":{json.dumps(USER)},"x":{opening}{inner}{closing}}}'.encode()


@pytest.mark.parametrize(
    ("given", "prompt"),
    [
        pytest.param(body(USER | {"id": "m1"}), Prompt("hi", "m1"), id="parts and an id"),
        pytest.param(body(USER), Prompt("hi"), id="no id"),
        pytest.param(body(USER | {"id": None}), Prompt("hi"), id="null for an id"),
        pytest.param(body(USER | {"id": ""}), Prompt("hi"), id="an empty id"),
        pytest.param(
            body(ANSWER, ANSWER, USER),
            Prompt("hi", has_earlier=True),
            id="only the last one is read",
        ),
        pytest.param(
            body(7, None, USER), Prompt("hi", has_earlier=True), id="the others may be anything"
        ),
        pytest.param(
            json.dumps({"message": USER | {"id": "m1"}}).encode(), Prompt("hi", "m1"), id="message"
        ),
        pytest.param(
            json.dumps({"messages": None, "message": USER}).encode(), Prompt("hi"), id="null first"
        ),
        pytest.param(
            json.dumps({"messages": [USER], "message": ANSWER}).encode(), Prompt("hi"), id="both"
        ),
        pytest.param(body({"role": "user", "content": "hi"}), Prompt("hi"), id="content"),
        pytest.param(
            body({"role": "user", "content": "no", "parts": HI}), Prompt("hi"), id="parts win"
        ),
        pytest.param(
            body({"role": "user", "content": "hi", "parts": None}), Prompt("hi"), id="null parts"
        ),
        pytest.param(
            body({"role": "user", "parts": [*HI, {"type": "data-x", "data": 1}, *HI]}),
            Prompt("hihi"),
            id="text parts are joined, data parts are not read",
        ),
        pytest.param(
            body({"role": "user", "parts": [{"type": "text", "text": " a\n\U0001f600 "}]}),
            Prompt(" a\n\U0001f600 "),
            id="text is taken as it is",
        ),
        pytest.param(
            body({"role": "user", "parts": [text_part("x" * TEXT_MAX), text_part("")]}),
            Prompt("x" * TEXT_MAX),
            id="as long as it may be, and an empty part",
        ),
        pytest.param(
            json.dumps(
                {
                    "message": {
                        "role": "user",
                        "parts": [text_part("x" * (TEXT_MAX - 1)), text_part("\U0001f600")],
                    }
                }
            ).encode(),
            Prompt("x" * (TEXT_MAX - 1) + "\U0001f600"),
            id="as long as it may be, the last character in two escapes",
        ),
        pytest.param(
            body({"role": "user", "content": "\U0001f600" * TEXT_MAX}),
            Prompt("\U0001f600" * TEXT_MAX),
            id="the longest text, in code points",
        ),
        pytest.param(
            body(USER, trigger="submit-message", messageId="x", tenant={"a": 1}),
            Prompt("hi"),
            id="fields of the app",
        ),
        pytest.param(body(USER, trigger="of-tomorrow"), Prompt("hi"), id="an unknown trigger"),
        pytest.param(
            body(USER, ANSWER, trigger="regenerate-message"),
            Prompt("hi", regenerates=True),
            id="regenerate sends the last message of the user again",
        ),
        pytest.param(
            body(USER | {"id": "m1"}, trigger="regenerate-message", messageId="a1"),
            Prompt("hi", "m1", regenerates=True, replaces="a1"),
            id="regenerate names the answer that it replaces",
        ),
        pytest.param(
            body(USER | {"id": "m1"}, trigger="regenerate-message", messageId="m1"),
            Prompt("hi", "m1", regenerates=True),
            id="regenerate from the user's message names no answer",
        ),
        pytest.param(
            body(USER | {"id": "m1"}, trigger="regenerate-message", messageId=None),
            Prompt("hi", "m1", regenerates=True),
            id="regenerate names nothing with null",
        ),
        pytest.param(
            body(ANSWER, USER | {"id": "m1"}, trigger="submit-message", messageId="m1"),
            Prompt("hi", "m1", replaces="m1", has_earlier=True),
            id="a message that names itself was edited",
        ),
        pytest.param(
            body(USER | {"id": "m1"}, trigger="of-tomorrow", messageId="m1"),
            Prompt("hi", "m1", replaces="m1"),
            id="an unknown trigger edits as submit-message does",
        ),
        pytest.param(
            body(USER | {"id": ""}, messageId=""), Prompt("hi"), id="empty ids name nothing"
        ),
        pytest.param(
            json.dumps({"messages": [USER | {"id": "m1"}]}).encode(),
            Prompt("hi", "m1"),
            id="WorkflowChatTransport sends messages and nothing else",
        ),
        pytest.param(
            body(USER, x='"\\' + "," * 300_000), Prompt("hi"), id="commas in strings are no values"
        ),
        pytest.param(nested(64), Prompt("hi"), id="nested as deep as may be"),
        pytest.param(
            body(USER, x="[" * 99 + '"[\\' + "{" * 99, y=[[]] * 99),
            Prompt("hi"),
            id="brackets in strings are not nesting",
        ),
    ],
)
def test_a_body_gives_its_prompt(given: bytes, prompt: Prompt) -> None:
    assert extract(given) == prompt


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(b"", "The body is empty", id="no body"),
        pytest.param(b"{", NOT_JSON, id="half a body"),
        pytest.param(body(USER) + b"x", NOT_JSON, id="more than a body"),
        pytest.param(b'{"messages":[],"x":NaN}', NOT_JSON, id="NaN"),
        pytest.param(b'{"message":{"role":"user","content":"\xff"}}', NOT_JSON, id="not UTF-8"),
        pytest.param(
            rb'{"message":{"role":"user","content":"\ud83d"}}', NOT_JSON, id="half of a pair"
        ),
        pytest.param(b"[]", WRONG_TYPE, id="no object"),
        pytest.param(b'"hi"', WRONG_TYPE, id="a string"),
        pytest.param(b'{"messages":{}}', WRONG_TYPE, id="messages are no list"),
        pytest.param(body("hi"), WRONG_TYPE, id="a message is no object"),
        pytest.param(body({"parts": HI}), WRONG_TYPE, id="no role"),
        pytest.param(body({"role": 7, "parts": HI}), WRONG_TYPE, id="a role that is no string"),
        pytest.param(body(USER | {"id": 7}), WRONG_TYPE, id="an id that is no string"),
        pytest.param(body(USER | {"id": "x" * 513}), WRONG_TYPE, id="an id too long"),
        pytest.param(
            body({"role": "user", "parts": HI * 1_001}),
            "The last message has too many parts",
            id="too many parts",
        ),
        pytest.param(
            body(USER, x=[1] * 200_002), "The body has too many values", id="too many values"
        ),
        pytest.param(
            body(USER, *[ANSWER] * 1_000, trigger="regenerate-message"),
            "There is no message of the user to send again",
            id="the user's last message is too far back",
        ),
        pytest.param(
            body(USER, {"role": 7}, trigger="regenerate-message"),
            WRONG_TYPE,
            id="a message behind the user's last one is malformed",
        ),
        pytest.param(body({"role": "user", "parts": "hi"}), WRONG_TYPE, id="parts are no list"),
        pytest.param(body({"role": "user", "parts": ["hi"]}), WRONG_TYPE, id="a part no object"),
        pytest.param(body({"role": "user", "parts": [{}]}), WRONG_TYPE, id="a part of no type"),
        pytest.param(
            body({"role": "user", "parts": [{"type": "text"}]}), WRONG_TYPE, id="a text of nothing"
        ),
        pytest.param(
            body({"role": "user", "parts": [{"type": "text", "text": 7}]}),
            WRONG_TYPE,
            id="a text that is no string",
        ),
        pytest.param(body({"role": "user", "content": 7}), WRONG_TYPE, id="content no string"),
        pytest.param(body(USER, trigger=7), WRONG_TYPE, id="a trigger that is no string"),
        pytest.param(b"{}", "The body has no messages", id="no messages"),
        pytest.param(b'{"messages":[]}', "The body has no messages", id="an empty list"),
        pytest.param(
            body({"role": "user"}), "The last message has neither parts nor content", id="bare"
        ),
        pytest.param(body({"role": "user", "parts": []}), EMPTY, id="no parts"),
        pytest.param(body({"role": "user", "content": " \n\u3000"}), EMPTY, id="white space"),
        pytest.param(
            body({"role": "user", "content": "x" * (TEXT_MAX + 1)}),
            "The prompt is longer than 100000 characters",
            id="too long",
        ),
        pytest.param(
            body({"role": "user", "parts": [text_part("x" * TEXT_MAX), text_part("y")]}),
            "The prompt is longer than 100000 characters",
            id="too long in two parts",
        ),
        pytest.param(
            body({"role": "system", "parts": HI}),
            "The last message is neither the user's nor the assistant's",
            id="another role",
        ),
        pytest.param(
            body(ANSWER, trigger="regenerate-message"),
            "There is no message of the user to send again",
            id="nothing to regenerate",
        ),
        pytest.param(body(USER, ANSWER), "Nothing to forward", id="an answer that comes back"),
        pytest.param(body(USER, messageId=7), WRONG_TYPE, id="a messageId that is no string"),
        pytest.param(body(USER, messageId="x" * 513), WRONG_TYPE, id="a messageId too long"),
        pytest.param(nested(65), TOO_DEEP, id="one level too deep"),
        pytest.param(nested(64, "[]," * 200 + "1"), TOO_DEEP, id="one level too deep, and broad"),
        pytest.param(nested(66), TOO_DEEP, id="two levels too deep"),
        pytest.param(b"[" * 100_000, TOO_DEEP, id="nothing but brackets"),
        pytest.param(nested(100_000), TOO_DEEP, id="nested a hundred thousand deep"),
    ],
)
def test_a_body_without_a_prompt_is_refused_with_the_reason(given: bytes, reason: str) -> None:
    with pytest.raises(BadRequest) as refused:
        extract(given)

    assert refused.value.public == reason


@pytest.mark.no_cover  # megabytes, of which short bodies reach every line
@pytest.mark.parametrize(
    ("piece", "fits"),
    [
        (b"[]", False),  # too many values
        (b'"[",{}', False),
        (b"[{}]", False),
        (b"[" * 62 + b"]" * 62, True),
        (b"[" * 62 + b"],[" * 9 + b"]" * 62, True),
        (b"[" * 63 + b"]" * 63, False),
        (b'["' + b"\\\\" * 9 + b'\\""]', True),
    ],
)
def test_a_large_body_of_brackets_takes_no_seconds(*, piece: bytes, fits: bool) -> None:
    head = b'{"message":{"role":"user","content":"hi"},"x":['
    large = head + b",".join([piece] * (MIB_16 // 16 // len(piece))) + b"]}"
    began = time.process_time()

    try:
        taken = extract(large) == Prompt("hi")
    except BadRequest:
        taken = False

    assert taken == fits
    assert time.process_time() - began < 10


@pytest.mark.no_cover  # megabytes, of which short bodies reach every line
@pytest.mark.long
@pytest.mark.attack("16 MiB of brackets", "400; the nesting is measured without recursion")
def test_sixteen_mebibytes_of_brackets_take_no_seconds() -> None:
    group = b"[" * 59 + b"]" * 59
    head = b'{"message":{"role":"user","content":"hi"},"x":[[[['
    began = time.process_time()

    assert extract(head + b",".join([group] * (MIB_16 // 119)) + b"]]]]}") == Prompt("hi")
    assert time.process_time() - began < 3


def test_a_text_that_is_a_little_too_long_is_no_text() -> None:
    """Of a role, an id or a text it is known only when it was read."""
    with pytest.raises(BadRequest):
        extract(body(USER | {"id": "i" * 513}))
    with pytest.raises(BadRequest):
        extract(body(USER | {"id": "i" * 20_000}))
    with pytest.raises(BadRequest, match="longer than"):
        extract(body({"role": "user", "content": "x" * 2_000_000}))
