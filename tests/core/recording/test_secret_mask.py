"""Secrets in every spelling that an agent may give them."""

import base64
import json
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwire.core.recording.recorder import Recording, header
from turnwire.core.recording.secret_mask import SecretMask
from turnwire.core.requests import ResumeRequest
from turnwire.core.turn.inputs import Frames
from turnwire.core.turn.limits import Limits

TOKEN = 'tok/9f+8"e\\7d~=%'
VISIBLE = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=12, max_size=40)


def hidden(said: str, token: str = TOKEN) -> bool:
    data = said.encode()
    left = SecretMask([token.encode()]).mask(data)
    assert len(left) == len(data)
    return b"x" * 4 in left and token.encode() not in left and left != data


def escaped(token: str) -> str:
    return "".join(f"\\u{ord(character):04X}" for character in token)


SPELLINGS = {
    "as it is": TOKEN,
    "json": json.dumps(TOKEN),
    "json of php": json.dumps(TOKEN).replace("/", "\\/"),
    "json in json": json.dumps(json.dumps(TOKEN)),
    "json in json in json": json.dumps(json.dumps(json.dumps(TOKEN))),
    "escapes": escaped(TOKEN),
    "small escapes": escaped(TOKEN).replace("\\U", "\\u").lower(),
    "escapes in json": json.dumps(escaped(TOKEN)),
    "a url": f"https://a.example/?t={quote(TOKEN, safe='')}&b=1",
    "a small url": quote(TOKEN, safe="").replace("%2F", "%2f"),
    "a url in a url": quote(quote(TOKEN, safe=""), safe=""),
    "half a url": quote(TOKEN, safe="/+="),
}


@pytest.mark.parametrize("said", SPELLINGS.values(), ids=SPELLINGS)
def test_a_token_is_blotted_out_however_it_is_spelled(said: str) -> None:
    assert hidden(f'{{"a":1,"said":"before {said} after"}}')
    assert hidden(said)


@pytest.mark.parametrize("before", ["", "a", "ab", "Bearer ", "user:"])
@pytest.mark.parametrize("after", ["", "!", "!!", "@host"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_also_in_base64_wherever_it_stands_in_it(before: str, after: str, encode: object) -> None:
    assert callable(encode)
    token = "tok?9f+8>>~~7d"
    code = encode(f"{before}{token}{after}".encode())

    left = SecretMask([token.encode()]).mask(b"<%b>" % code)

    assert len(left) == len(code) + 2
    for start in range(len(code) - 7):
        piece = code[start : start + 8]
        known = base64.b64encode(token.encode())
        assert piece not in left or piece not in known
    assert left.count(b"x") >= len(token) * 8 // 6 - 2


@settings(max_examples=200, deadline=None)
@given(token=VISIBLE.filter(lambda token: not token.endswith("\\")), how=st.integers(0, 5))
def test_any_token_is_found_in_any_spelling(token: str, how: int) -> None:
    spellings: list[Callable[[str], str]] = [
        str,
        json.dumps,
        lambda t: json.dumps(t).replace("/", "\\/"),
        escaped,
        lambda t: quote(t, safe=""),
        lambda t: json.dumps(json.dumps(t)),
    ]
    said = f"<{spellings[how](token)}>".encode()

    left = SecretMask([token.encode()]).mask(said)

    assert len(left) == len(said)
    if len(token.replace("\\", "").replace("%", "")) >= 8:
        assert set(left.removeprefix(b"<").removesuffix(b">")) <= set(b'x"\\')


def test_json_stays_json_and_other_words_stay() -> None:
    frame = json.dumps({"type": "chunk", "content": f'she said "\\u00e4" {TOKEN}', "n": 1.5e3})

    left = json.loads(SecretMask([TOKEN.encode()]).mask(frame.encode()))

    assert left["type"] == "chunk"
    assert left["content"].startswith('she said "\\u00e4" x')
    assert left["n"] == 1500


def test_a_recording_with_all_that_was_said_has_no_token_in_any_spelling() -> None:
    recording = Recording(
        header(ResumeRequest(user_id="u1", init_s=1), dialect="v2", limits=Limits()), 9_999
    )
    for said in SPELLINGS.values():
        frame = (
            json.dumps({"type": "chunk", "content": "<>"}).encode().replace(b"<>", said.encode())
        )
        recording.on_input(Frames([frame]), 1.0)

    lines = list(recording.lines(redactor=None, secrets=[TOKEN.encode()]))

    assert sum(b"x" * len(TOKEN) in line for line in lines) == len(SPELLINGS)


def test_a_short_one_is_looked_for_as_it_is_alone() -> None:
    """Its other spellings would stand anywhere."""
    mask = SecretMask([b"a/bcdef"])

    assert mask.mask(b'"a/bcdef" "a\\/bcdef"') == b'"xxxxxxx" "a\\/bcdef"'
    assert SecretMask([b"a/bcdefg"]).mask(b'"a\\/bcdefg"') == b'"xxxxxxxxx"'


@pytest.mark.parametrize("secrets", [[b"key", b"key-of-ann"], [b"key-of-ann", b"key"]])
def test_a_secret_that_begins_like_another_is_masked_as_a_whole(secrets: list[bytes]) -> None:
    assert SecretMask(secrets).mask(b'"key-of-ann" "key"') == b'"xxxxxxxxxx" "xxx"'


def test_escapes_are_taken_away_only_so_often() -> None:
    said = b"\\" + b"u005c" * 9 + b"u0041 and " + TOKEN.encode()

    assert SecretMask([TOKEN.encode()]).mask(said).endswith(b" and " + b"x" * len(TOKEN))


@pytest.mark.parametrize("secrets", [[], [b""]])
def test_without_secrets_nothing_is_changed(secrets: list[bytes]) -> None:
    assert SecretMask(secrets).mask(b'{"a":"\\/"}') == b'{"a":"\\/"}'


@pytest.mark.no_cover  # megabytes, of which short texts reach every line
@pytest.mark.parametrize(
    "token", ["\\" * 200 + "a", "%" * 200 + "a", "a" * 200 + "b", "u005c" * 40]
)
def test_no_text_takes_long(token: str) -> None:
    began = time.process_time()

    SecretMask([token.encode()]).mask(b"\\" * 300_000)
    SecretMask([token.encode()]).mask(b"%25" * 100_000)
    SecretMask([token.encode()]).mask(b"\\u005c" * 50_000)
    SecretMask([token.encode()]).mask(b"\\" + b"a" * 300_000)
    SecretMask([token.encode()]).mask(b"\\a" * 150_000)

    assert time.process_time() - began < 20
