"""A token that was verified once is taken again as long as nothing about it has changed."""

import time
from collections.abc import Sequence

import pytest

from gateway.tokens import KEY, NEXT_KEY, OTHER_KEY, token
from turnwire.config.keys import Key
from turnwire.errors import Unauthorized
from turnwire.web.auth.identity import JwtIdentity
from turnwire.web.auth.token_cache import TOKENS_MAX, VerifiedToken, VerifiedTokens


class Keys:
    """Keys that change, and how often they were asked for."""

    def __init__(self, *keys: str) -> None:
        self.keys: Sequence[Key] = [key.encode() for key in keys]
        self.asked: list[str | None] = []

    async def keys_for(self, key_id: str | None) -> Sequence[Key]:
        self.asked.append(key_id)
        return self.keys


def identity(keys: Keys) -> JwtIdentity:
    return JwtIdentity(keys, algorithm="HS256", issuer="", audience="", leeway_s=0)


async def test_the_second_time_the_same_is_told() -> None:
    asking = identity(Keys(OTHER_KEY, KEY))
    given = token("u1", sessions={"s1": "owner"})

    first, second = await asking.identify(given), await asking.identify(given)

    assert first == second
    assert second.token == given
    assert second.claims["sessions"] == {"s1": "owner"}
    assert second.claims is first.claims, "it was not read again"


async def test_a_key_that_is_withdrawn_takes_its_tokens_with_it() -> None:
    keys = Keys(KEY)
    asking = identity(keys)
    given = token()
    await asking.identify(given)

    keys.keys = [NEXT_KEY.encode()]

    with pytest.raises(Unauthorized):
        await asking.identify(given)


async def test_the_same_key_fetched_anew_is_good_again() -> None:
    keys = Keys(KEY)
    asking = identity(keys)
    given = token()
    await asking.identify(given)

    keys.keys = [bytes(bytearray(KEY.encode()))]

    assert (await asking.identify(given)).user_id == "u1"


async def test_a_token_that_is_not_good_is_not_remembered() -> None:
    asking = identity(Keys(KEY))
    given = token(key=OTHER_KEY)

    for _ in range(2):
        with pytest.raises(Unauthorized):
            await asking.identify(given)
    assert asking._verified_tokens.get(given) is None


@pytest.mark.parametrize(
    ("now", "is_valid"), [(99.9, False), (100, True), (199.9, True), (200, False)]
)
def test_it_is_taken_from_its_start_to_its_end(now: float, is_valid: bool) -> None:  # noqa: FBT001
    key = KEY.encode()
    known = VerifiedToken("u1", {}, None, key, starts_at=100, expires_at=200)

    assert known.is_valid([key], now) is is_valid
    assert not known.is_valid([NEXT_KEY.encode()], 150)


async def test_the_times_that_are_remembered_are_the_tokens() -> None:
    now = int(time.time())
    asking = JwtIdentity(Keys(KEY), algorithm="HS256", issuer="", audience="", leeway_s=30)
    given = token(iat=now - 9, nbf=now - 5, exp=now + 60)
    await asking.identify(given)

    known = asking._verified_tokens.get(given)

    assert known is not None
    assert (known.starts_at, known.expires_at) == (now - 35, now + 90)


def test_no_more_are_remembered_than_may_be() -> None:
    tokens = VerifiedTokens()
    for number in range(TOKENS_MAX + 10):
        tokens.put(str(number), VerifiedToken("u1", {}, None, b"", 0, 0))

    assert tokens.get("9") is None
    assert tokens.get(str(TOKENS_MAX)) is not None


async def test_long_tokens_are_remembered_in_smaller_number() -> None:
    """What one with many sessions says takes a hundred times the memory of a short one's."""
    asking = identity(Keys(KEY))
    sessions = {f"session-{number:0120}": "owner" for number in range(300)}
    long = [token(f"u{number}", sessions=sessions) for number in range(80)]
    for given in long:
        await asking.identify(given)

    kept = [given for given in long if asking._verified_tokens.get(given) is not None]

    assert len(long[0]) > 50_000
    assert 60 <= len(kept) < len(long)
    assert kept == long[-len(kept) :]


async def test_times_that_no_clock_can_have_are_reckoned_with() -> None:
    long_ago = -(10**400)
    signed = token(iat=long_ago, nbf=long_ago)

    assert (await identity(Keys(KEY)).identify(signed)).user_id
