"""Whatever a body is, it is read or refused with a reason."""

import base64
import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from turnwire.core.body.attachments import AttachmentLimits
from turnwire.core.body.continuation import Continuation
from turnwire.core.body.prompt import Prompt, extract
from turnwire.errors import BadRequest

LIMITS = AttachmentLimits(count=3, characters=60, types=("image/*", "text/*"), hosts=("a.b",))
TEXTS = st.sampled_from(["", "a", "\0", "\U0001f600", "image/png", "text/plain", "answered", "q1"])
URLS = st.one_of(
    st.sampled_from(
        ["https://a.b/x", "https://a.b:1/", "data:,", "data:;base64,QQ", "javascript:1"]
    ),
    st.builds(
        lambda mime, data: f"data:{mime};base64,{base64.b64encode(data).decode()}",
        st.sampled_from(["", "image/png", "text/plain", "a/b", "\0"]),
        st.sampled_from([b"", b"a", b"\xff", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"%PDF-"]),
    ),
)
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
STATES = st.sampled_from(
    ["approval-responded", "approval-requested", "output-available", "output-error", "x"]
)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects, each with its kind and some of the other fields."""
    kinds = {name: fields.pop(name) for name in ("type", "role", "parts") if name in fields}
    return st.fixed_dictionaries(kinds, optional=fields)


PARTS = st.one_of(
    some(type=st.just("text")).map(lambda part: part | {"text": "hi"}),
    st.builds(
        lambda url, part: {"type": "file", "url": url} | part,
        URLS,
        some(mediaType=st.sampled_from(["image/png", "text/plain", "a/b", "\0"]), filename=TEXTS),
    ),
    some(type=st.just("step-start")),
    some(
        type=st.sampled_from(["tool-x", "dynamic-tool"]),
        state=STATES,
        providerExecuted=st.just(True),  # noqa: FBT003 (a value)
        approval=st.fixed_dictionaries({"id": TEXTS, "approved": st.booleans()}),
    ),
    st.builds(
        lambda data: {"type": "data-question", "id": "q1", "data": data},
        some(state=st.just("answered"), answer=ANY, questionId=TEXTS),
    ),
)
MESSAGES = some(
    id=TEXTS,
    role=st.sampled_from(["user", "assistant"]),
    parts=st.lists(PARTS, max_size=4),
)
BODIES = st.builds(
    lambda messages, body: {"messages": messages} | body,
    st.lists(MESSAGES, min_size=1, max_size=2),
    some(trigger=st.sampled_from(["submit-message", "regenerate-message"]), messageId=TEXTS),
)


def places(told: Any) -> list[tuple[Any, Any]]:
    """Every place in these values, as what it is in and its key there."""
    keys = told.items() if isinstance(told, dict) else enumerate(told)
    inner = [(told, key, value) for key, value in keys]
    return [
        place
        for at, key, value in inner
        for place in [(at, key), *(places(value) if isinstance(value, dict | list) else ())]
    ]


def read(raw: bytes) -> None:
    with contextlib.suppress(BadRequest):
        check(extract(raw, LIMITS))


def check(asked: Prompt | Continuation) -> None:
    if isinstance(asked, Continuation):
        assert asked.responses
        return
    assert asked.text.strip() or asked.attachments
    assert len(asked.attachments) <= LIMITS.count
    for attachment in asked.attachments:
        assert LIMITS.accepts(attachment.mime)
        assert attachment.url.startswith((f"data:{attachment.mime};base64,", "https://a.b/"))


@settings(max_examples=150, deadline=None, database=None)
@given(BODIES, st.data())
def test_any_json_is_read_or_refused(told: Any, data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        at, key = data.draw(st.sampled_from(places(told)))
        at[key] = data.draw(ANY)
    read(json.dumps(told).encode())


@settings(max_examples=100, deadline=None, database=None)
@given(BODIES, st.data())
def test_any_bytes_are_read_or_refused(told: Any, data: st.DataObject) -> None:
    raw = bytearray(json.dumps(told).encode())
    place = data.draw(st.integers(0, len(raw) - 1))
    raw[place] = data.draw(st.sampled_from(b'"\\{[]},:\xff\0 a'))
    read(bytes(raw))


@settings(max_examples=100, deadline=None, database=None)
@given(st.binary(max_size=40))
def test_noise_is_read_or_refused(raw: bytes) -> None:
    read(raw)
