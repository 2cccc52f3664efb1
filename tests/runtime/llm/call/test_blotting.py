import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire_agent.llm.call.blotting import BLOT, Blotting, blotted, blotted_head, spellings

SECRET = b"sk-canary-01"


def shown(secrets: list[bytes], *pieces: bytes) -> bytes:
    blotting = Blotting(secrets)
    return b"".join([blotting.feed(piece) for piece in pieces] + [blotting.end()])


@pytest.mark.parametrize("cut", range(len(SECRET) + 8))
def test_a_secret_is_found_however_it_is_cut(cut: int) -> None:
    text = b"key=" + SECRET + b"."

    assert shown([SECRET], text[:cut], text[cut:]) == b"key=" + BLOT + b"."


def test_a_secret_is_found_byte_by_byte_and_many_times() -> None:
    text = SECRET + b"sk-" + SECRET + SECRET + b"sk-canary-0"

    assert shown([SECRET], *(bytes([each]) for each in text)) == (
        BLOT + b"sk-" + BLOT + BLOT + b"sk-canary-0"
    )


def test_only_what_may_be_a_secret_is_held() -> None:
    blotting = Blotting([SECRET, b"Bearer " + SECRET])

    assert blotting.feed(b"Hello") == b"Hello"
    assert blotting.feed(b" Bea") == b" "
    assert blotting.feed(b"t") == b"Beat"
    assert blotting.end() == b""


def test_without_secrets_nothing_is_held() -> None:
    assert Blotting([]).feed(b"sk-") == b"sk-"


@given(st.lists(st.text("ab", max_size=6), max_size=12), st.text("ab", min_size=1, max_size=4))
def test_what_is_shown_does_not_depend_on_the_pieces(pieces: list[str], secret: str) -> None:
    result = shown([secret.encode()], *(each.encode() for each in pieces))

    assert result == "".join(pieces).replace(secret, BLOT.decode()).encode()


def test_a_secret_has_several_spellings() -> None:
    secrets = spellings({"authorization": 'Bearer a"b/c-0123456', "x-team": "short"})

    assert b'a"b/c-0123456' in secrets
    assert b'a\\"b/c-0123456' in secrets
    assert b"a%22b%2Fc-0123456" in secrets
    assert b'Bearer a"b/c-0123456' in secrets
    assert not any(b"short" in each for each in secrets)


def test_a_text_that_is_cut_in_a_secret_does_not_show_its_beginning() -> None:
    secrets = spellings({"x-api-key": SECRET.decode()})

    assert blotted("No: sk-canary-01!", secrets) == "No: [secret]!"
    assert blotted("No: sk-canary-0", secrets) == "No: [secret]"
    assert blotted("No: sk-", secrets) == "No: sk-"
    assert blotted("Nö \ud800", secrets) == "Nö ?"


def test_a_head_has_no_values_of_secret_headers() -> None:
    head = (
        b"POST / HTTP/1.1\r\nAuthorization: none\r\nX-Mine: a: b\r\nhost: c\r\n"
        b"set-cookie: d\r\n\r\n"
    )

    assert blotted_head(head, ["x-mine"]) == (
        b"POST / HTTP/1.1\r\nAuthorization: [secret]\r\nX-Mine: [secret]\r\nhost: c\r\n"
        b"set-cookie: [secret]\r\n\r\n"
    )
