"""Whom the bridge lets in."""

from http import HTTPStatus

import pytest

from turnwire.bridge.access import refusal

TOKEN = "a-token-of-the-bridge"
GOOD = ("Authorization", f"Bearer {TOKEN}")


def test_whoever_knows_the_token_may_connect() -> None:
    assert refusal(TOKEN, [("Host", "127.0.0.1"), GOOD]) is None
    assert refusal(TOKEN, [("authorization", f"bearer  {TOKEN} ")]) is None


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "")],
        [("Authorization", TOKEN)],
        [("Authorization", f"Basic {TOKEN}")],
        [("Authorization", "Bearer ")],
        [("Authorization", f"Bearer {TOKEN[:-1]}")],
        [("Authorization", f"Bearer {TOKEN}x")],
        [("Authorization", "Bearer \udcff")],
        [GOOD, GOOD],
        [("X-Authorization", f"Bearer {TOKEN}")],
    ],
)
def test_nobody_else_may(headers: list[tuple[str, str]]) -> None:
    assert refusal(TOKEN, headers) is HTTPStatus.UNAUTHORIZED


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:8765", "null", ""])
def test_a_page_may_not_even_with_the_token(origin: str) -> None:
    assert refusal(TOKEN, [GOOD, ("origin", origin)]) is HTTPStatus.FORBIDDEN
    assert refusal(TOKEN, [("Origin", origin), GOOD]) is HTTPStatus.FORBIDDEN
