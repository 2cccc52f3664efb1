"""Who is asking: signed tokens, and what is taken for none."""

import json
import time

import jwt
import pytest

from gateway.running import settings
from gateway.tokens import KEY, NEXT_KEY, OTHER_KEY, claims, token
from turnwire.config.lists import keys
from turnwire.errors import Unauthorized
from turnwire.web.auth.identity import Caller, JwtIdentity, OpaqueIdentity, StaticKeys, bearer_token


def identity(
    *signed_with: str, issuer: str = "", audience: str = "", leeway_s: float = 0
) -> JwtIdentity:
    return JwtIdentity(
        StaticKeys([key.encode() for key in signed_with or [KEY]]),
        algorithm="HS256",
        issuer=issuer,
        audience=audience,
        leeway_s=leeway_s,
    )


async def test_a_good_token_names_its_user_and_is_kept_for_the_agent() -> None:
    given = token("alice", anything="else")

    caller = await identity().identify(given)

    assert caller.user_id == "alice"
    assert caller.token == given
    assert caller.claims["anything"] == "else"


async def test_a_caller_never_shows_its_token() -> None:
    given = token("alice", email="alice@example.com")

    caller = await identity().identify(given)

    assert repr(caller) == "Caller(user_id='alice')"
    assert given not in f"{caller} {caller!r} {[caller]}"


@pytest.mark.parametrize("key", [KEY, NEXT_KEY])
async def test_while_keys_are_rotated_both_are_good(key: str) -> None:
    both = StaticKeys(keys(settings(jwt_key=f"{KEY}, {NEXT_KEY}")))
    either = JwtIdentity(both, algorithm="HS256", issuer="", audience="", leeway_s=0)

    assert (await either.identify(token(key=key))).user_id == "u1"


async def test_a_third_key_is_not() -> None:
    with pytest.raises(Unauthorized):
        await identity(KEY, NEXT_KEY).identify(token(key=OTHER_KEY))


async def test_an_expired_token_is_not_saved_by_a_second_key() -> None:
    with pytest.raises(Unauthorized, match="Expired"):
        await identity(KEY, NEXT_KEY).identify(token(exp=int(time.time()) - 5))


@pytest.mark.parametrize(
    ("expected", "told", "good"),
    [
        ({"issuer": "https://id.example"}, {"iss": "https://id.example"}, True),
        ({"issuer": "https://id.example"}, {"iss": "https://id.example.evil"}, False),
        ({"issuer": "https://id.example"}, {}, False),
        ({"audience": "turnwire"}, {"aud": "turnwire"}, True),
        ({"audience": "turnwire"}, {"aud": ["other", "turnwire"]}, True),
        ({"audience": "turnwire"}, {"aud": "other"}, False),
        ({"audience": "turnwire"}, {}, False),
        ({}, {"iss": "anybody", "aud": "anything"}, True),
    ],
)
async def test_issuer_and_audience_are_asked_for_if_set(
    expected: dict[str, str],
    told: dict[str, str],
    good: bool,  # noqa: FBT001 (a table's column)
) -> None:
    asked = identity(issuer=expected.get("issuer", ""), audience=expected.get("audience", ""))
    given = token(**told)

    if good:
        assert (await asked.identify(given)).user_id == "u1"
    else:
        with pytest.raises(Unauthorized):
            await asked.identify(given)


@pytest.mark.parametrize(("leeway_s", "good"), [(0, False), (30, True)])
async def test_leeway_forgives_a_clock_that_is_off(
    leeway_s: int,
    good: bool,  # noqa: FBT001 (a table's column)
) -> None:
    given = token(exp=int(time.time()) - 10)

    if good:
        assert (await identity(leeway_s=leeway_s).identify(given)).user_id == "u1"
    else:
        with pytest.raises(Unauthorized):
            await identity(leeway_s=leeway_s).identify(given)


async def test_without_a_key_nobody_is_known() -> None:
    with pytest.raises(Unauthorized):
        await JwtIdentity(
            StaticKeys([]), algorithm="HS256", issuer="", audience="", leeway_s=0
        ).identify(token())


async def test_header_fields_that_name_a_key_are_not_looked_at() -> None:
    header = {"kid": "../../x", "jku": "http://127.0.0.1:1/", "jwk": {"kty": "oct", "k": "AA"}}
    good = jwt.encode(claims(), KEY, "HS256", headers=header)
    evil = jwt.encode(claims(), OTHER_KEY, "HS256", headers=header)

    assert (await identity().identify(good)).user_id == "u1"
    with pytest.raises(Unauthorized):
        await identity().identify(evil)


@pytest.mark.parametrize("subject", ["", 7, None, ["u1"], "\ud800"])
async def test_a_subject_that_is_no_name_is_nobody(subject: object) -> None:
    payload = {**claims(), "sub": subject}
    given = jwt.api_jws.encode(json.dumps(payload).encode(), KEY, "HS256")

    with pytest.raises(Unauthorized):
        await identity().identify(given)


@pytest.mark.parametrize("given", ["x", "tok_1~+/=", "a.b.c"])
async def test_an_opaque_token_is_anybodys_until_the_control_plane_says_whose(given: str) -> None:
    assert await OpaqueIdentity().identify(given) == Caller(given, None, {})


@pytest.mark.parametrize("scheme", [b"Bearer", b"bearer", b"BEARER"])
def test_the_scheme_is_read_in_any_case(scheme: bytes) -> None:
    assert bearer_token([b" " + scheme + b"  a.b.c "]) == "a.b.c"
