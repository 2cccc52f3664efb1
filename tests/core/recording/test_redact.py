"""Nobody's words stay in a redacted frame, and everything that a replay goes by does."""

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turnwire.core.recording.redact import Redactor, redactor_of
from turnwire.core.wire.schema import WireSchema


@pytest.mark.parametrize(
    ("frame", "redacted"),
    [
        ('{"type":"chunk","content":"Hi, Bob 7!"}', '{"type":"chunk","content":"xx, xxx x!"}'),
        ('{"content":"é世𝒜 \\u2028"}', '{"content":"ø字𝑥 \\u2028"}'),
        ('{"content":"\\u00e9\\ud83d\\n\\"\\ude00\\u0041"}', None),
        (
            '{"content":"\\ud800\\udbff\\udc00\\udfff"}',
            '{"content":"\\ud835\\ud835\\udc65\\udc65"}',
        ),
        ('{"args":{"pin":1234,"n":-0.5e-7,"ok":true,"a b":null}}', None),
        ('{"result":["a",{"id":"s"}],"turnId":"t-1"}', None),
        ('{"turnId":"t 1","callId":"c1","id":""}', None),
        ('{"authorId":"ann@a.example","userId":"ann@a.example","channelId":"+49 30"}', None),
        ('{"channelId":"default","threadId":"th1"}', None),
        ('{"status":"has words","role":"user","reason":"end_turn"}', None),
        ('{"url":"https://a.example/b?c=d","text":"https://a.example"}', None),
        ('{"content":"/stop","text":"/Stop"}', None),
        ('{"message":"Unsupported file type: x/y"}', None),
        ('{"queuePosition":12,"other":12}', None),
        ('{"result":{"type":12},"type":12}', None),
        ('{"__proto__":{"constructor":1},"args":{"__proto__":"a"},"an odd key":2}', None),
        ('{"content":NaN,"x":-Infinity}', None),
        ("no JSON 1 {", None),
        ('"cut in the mid', None),
        ('{"a":"b\\', None),
        ("]}{}", None),
        ('{"pending":"q1"}', None),
        ('{"half\\ud83d":"\\ud83d","turnId":"\\ud83d"}', None),
    ],
)
def test_what_is_left_of_a_frame(frame: str, redacted: str | None) -> None:
    made = redactor().frame(frame.replace("\\u2028", "\u2028").encode()).decode()
    if redacted is None:
        redacted = LEFT[frame]

    assert made == redacted.replace("\\u2028", "\u2028")


LEFT = {
    '{"content":"\\u00e9\\ud83d\\n\\"\\ude00\\u0041"}': (
        '{"content":"\\u00f8\\ud835\\n\\"\\udc65\\u0078"}'
    ),
    '{"args":{"pin":1234,"n":-0.5e-7,"ok":true,"a b":null}}': (
        '{"args":{"xxx":1111,"x":-1.1e-1,"xx":true,"x x":null}}'
    ),
    '{"result":["a",{"id":"s"}],"turnId":"t-1"}': '{"result":["x",{"xx":"x"}],"turnId":"t-1"}',
    '{"turnId":"t 1","callId":"c1","id":""}': '{"turnId":"n1x","callId":"c1","id":""}',
    '{"authorId":"ann@a.example","userId":"ann@a.example","channelId":"+49 30"}': (
        '{"authorId":"n1xxxxxxxxxxx","userId":"n1xxxxxxxxxxx","channelId":"n2xxxx"}'
    ),
    '{"channelId":"default","threadId":"th1"}': '{"channelId":"default","threadId":"n1x"}',
    '{"status":"has words","role":"user","reason":"end_turn"}': (
        '{"status":"xxx xxxxx","role":"user","reason":"end_turn"}'
    ),
    '{"url":"https://a.example/b?c=d","text":"https://a.example"}': (
        '{"url":"https://x.xxxxxxx/x?x=x","text":"xxxxx://x.xxxxxxx"}'
    ),
    '{"content":"/stop","text":"/Stop"}': '{"content":"/stop","text":"/xxxx"}',
    '{"message":"Unsupported file type: x/y"}': '{"message":"Unsupported file type: x/x"}',
    '{"queuePosition":12,"other":12}': '{"queuePosition":12,"other":11}',
    '{"result":{"type":12},"type":12}': '{"result":{"xxxx":11},"type":12}',
    '{"__proto__":{"constructor":1},"args":{"__proto__":"a"},"an odd key":2}': (
        '{"__proto__":{"constructor":1},"args":{"__proto__":"x"},"xx xxx xxx":1}'
    ),
    '{"content":NaN,"x":-Infinity}': '{"content":NaN,"x":-Infinity}',
    "no JSON 1 {": "xx xxxx 1 {",
    '"cut in the mid': '"xxx xx xxx xxx',
    '{"a":"b\\': '{"a":"x\\',
    "]}{}": "]}{}",
    '{"pending":"q1"}': '{"pending":"q1"}',
    '{"half\\ud83d":"\\ud83d","turnId":"\\ud83d"}': ('{"xxxx\\ud835":"\\ud835","turnId":"n1xxxx"}'),
}


def redactor() -> Redactor:
    return Redactor(kept={"queuePosition"}, ids={"pending"}, phrases=("Unsupported file type",))


def test_what_a_user_wrote() -> None:
    made = redactor()

    assert made.text("Call me on 0171, Zoë") == "xxxx xx xx xxxx, xxø"
    assert made.text("/clear") == "/clear"
    assert made.text("Unsupported file type: a") == "Unsupported file type: x"
    assert made.name("ann@a.example") == "n1xxxxxxxxxxx"
    assert made.machine_id("ann@a.example") == "n1xxxxxxxxxxx"
    assert made.machine_id("6f.1") == "6f.1"


def test_a_frame_that_is_no_json_stays_if_the_dialect_reads_it() -> None:
    made = Redactor(phrases=("[DONE]",))

    assert made.frame(b"[DONE]") == b"[DONE]"
    assert made.frame(b"[DONE] ann") == b"[xxxx] xxx"


def test_without_any_phrases_nothing_begins_with_one() -> None:
    assert Redactor().frame(b'{"message":"Unsupported"}') == b'{"message":"xxxxxxxxxxx"}'


# A text that is a command as a whole is shown, so the start of one may say more than all of it.
NO_COMMAND = st.text().filter(lambda text: not text.startswith("/"))


@given(NO_COMMAND, st.integers(min_value=0))
def test_a_text_keeps_its_length_in_every_unit_and_what_it_begins_with(text: str, cut: int) -> None:
    shown = Redactor().text(f"{text}.")

    assert len(shown) == len(text) + 1
    assert len(shown.encode("utf-16-le")) == len(f"{text}.".encode("utf-16-le"))
    assert len(shown.encode()) == len(f"{text}.".encode())
    assert shown.startswith(Redactor().text(f"{text}."[: cut % (len(text) + 1)]))
    assert not any(c.isalnum() and c not in "xø字\U0001d465" for c in shown)


# Hypothesis tries the constants of the code too, and names and addresses are made anew.
UNREAD_KEYS = st.text().filter(
    lambda key: key not in {"id", "url", "resolvedBy"} and not key.endswith("Id")
)


@pytest.mark.no_cover  # any JSON; the cases reach the same lines
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.integers()
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(UNREAD_KEYS, inner),
        max_leaves=20,
    ),
    st.booleans(),
)
@example(["\0\x7f"], True)  # noqa: FBT003 (as Hypothesis gives it)
def test_json_stays_json_of_the_same_shape_however_it_is_escaped(
    value: object,
    ascii_only: bool,  # noqa: FBT001 (Hypothesis gives it so)
) -> None:
    frame = json.dumps({"type": "x", "args": value, "more": value}, ensure_ascii=ascii_only)

    made = Redactor().frame(frame.encode())

    json.loads(made)
    assert len(made) == len(frame.encode())


def test_an_array_around_a_frame_keeps_its_type_and_its_numbers() -> None:
    array = Redactor(tags=["say", "done"]).frame
    frame = b'[17,"say",{"text":"say 17","a":["done",17]},"done","thistle"]'

    assert array(frame) == b'[17,"say",{"text":"xxx xx","a":["xxxx",11]},"done","xxxxxxx"]'
    assert Redactor().frame(b'[17,"say",{}]') == b'[11,"xxx",{}]'
    assert array(b'[17,"say",{"":27},[37]]') == b'[17,"say",{"":11},[11]]'
    assert array(b'{"":17}') == b'{"":11}'


def test_a_schema_with_an_envelope_names_the_types() -> None:
    class Say(msgspec.Struct, tag="say"):
        text: str

    split = WireSchema(frames=[Say], split=lambda frame: (frame[0], frame[1]))
    plain = WireSchema(frames=[Say])

    assert redactor_of(split).frame(b'["say",{"text":"a"}]') == b'["say",{"text":"x"}]'
    assert redactor_of(plain).frame(b'["say",{"text":"a"}]') == b'["xxx",{"text":"x"}]'
