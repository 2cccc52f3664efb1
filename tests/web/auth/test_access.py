"""What a session's roles allow, and to whom."""

import pytest

from turnwire.errors import NotFound
from turnwire.web.auth.access import ClaimsAccess, Grant, OpenAccess, Role, is_orchestrator, require
from turnwire.web.auth.identity import Caller


async def test_whom_nobody_knows_gets_nothing_without_a_control_plane() -> None:
    nobody = Caller("t", None, {"sessions": {"*": "owner"}})

    assert await ClaimsAccess().grant(nobody, "s1", "r1") is None
    assert await OpenAccess().grant(nobody, "s1", "r1") is None


def caller(sessions: object, user: str = "u1") -> Caller:
    return Caller("t", user, {} if sessions is None else {"sessions": sessions})


@pytest.mark.parametrize(
    ("sessions", "role"),
    [
        ({"s1": "viewer"}, Role.VIEWER),
        ({"s1": "collaborator"}, Role.COLLABORATOR),
        ({"s1": "owner"}, Role.OWNER),
        ({"*": "owner"}, Role.OWNER),
        ({"*": "owner", "s1": "viewer"}, Role.VIEWER),
        ({"*": "owner", "s1": "none"}, None),
        ({"s2": "owner"}, None),
        ({"s1": "Owner"}, None),
        ({"s1": 2}, None),
        ({}, None),
        ([], None),
        ("owner", None),
        (None, None),
    ],
)
async def test_the_token_says_what_its_user_is_in_a_session(
    sessions: object, role: Role | None
) -> None:
    granted = await ClaimsAccess().grant(caller(sessions), "s1", "r1")

    assert granted == (None if role is None else Grant("u1", role))


@pytest.mark.parametrize("session", ["orchestrator", "orchestrator:u1"])
@pytest.mark.parametrize(
    ("sessions", "owns"),
    [
        ("{}", False),
        ("owner", True),
        ("collaborator", False),
        ("viewer", False),
        ("*", False),
    ],
)
@pytest.mark.attack("another user's orchestrator session", "404, whatever the token grants")
async def test_an_orchestrator_session_is_its_owners_alone(
    session: str,
    sessions: str,
    owns: bool,  # noqa: FBT001 (a table's column)
) -> None:
    roles = {"*": "owner"} if sessions == "*" else {session: sessions, "*": "owner"}
    granted = await ClaimsAccess().grant(caller(roles), session, "r1")

    assert granted == (Grant("u1", Role.OWNER) if owns else None)


def test_a_name_that_only_looks_like_an_orchestrators_is_a_plain_session() -> None:
    assert not any(map(is_orchestrator, ("orchestrators", "my-orchestrator", "Orchestrator", "s1")))


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("least", list(Role))
async def test_a_role_may_do_what_the_lesser_ones_may(role: Role, least: Role) -> None:
    asking = caller({"s1": role.name.lower()})

    if role >= least:
        assert await require(ClaimsAccess(), asking, "s1", least, "r1") == Grant("u1", role)
    else:
        with pytest.raises(NotFound):
            await require(ClaimsAccess(), asking, "s1", least, "r1")


async def test_open_access_lets_everybody_in_who_has_a_name() -> None:
    assert await OpenAccess().grant(caller(None), "s1", "r1") == Grant("u1", Role.OWNER)


@pytest.mark.parametrize("session", ["", ".", "..", "s1\n", "a/b", "a b", "é", "x" * 129])
@pytest.mark.attack("a malformed session id", "404 before any request to the control plane")
async def test_a_malformed_id_is_refused_before_anybody_is_asked(session: str) -> None:
    with pytest.raises(NotFound, match="malformed"):
        await require(OpenAccess(), caller(None), session, Role.VIEWER, "r1")
