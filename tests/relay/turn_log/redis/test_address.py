"""URLs of one server, of a cluster and of Sentinels."""

import pytest
from redis.asyncio import SSLConnection

from turnwire.relay.turn_log.redis.address import Kind, problem, read


@pytest.mark.parametrize(
    ("url", "kind", "hosts", "options", "primary"),
    [
        ("redis://a", Kind.SERVER, [("a", 6379)], {}, ""),
        ("redis://a:7/3", Kind.SERVER, [("a", 7)], {"db": 3}, ""),
        ("redis://[::1]:7", Kind.SERVER, [("::1", 7)], {}, ""),
        (
            "redis://ann:p%40ss@a",
            Kind.SERVER,
            [("a", 6379)],
            {"username": "ann", "password": "p@ss"},
            "",
        ),
        ("redis://:p@a", Kind.SERVER, [("a", 6379)], {"password": "p"}, ""),
        ("redis+cluster://a:1,b", Kind.CLUSTER, [("a", 1), ("b", 6379)], {}, ""),
        (
            "redis+cluster://:p@a,b/0",
            Kind.CLUSTER,
            [("a", 6379), ("b", 6379)],
            {"password": "p"},
            "",
        ),
        ("redis+sentinel://a,b:1/main", Kind.SENTINEL, [("a", 26_379), ("b", 1)], {}, "main"),
        ("redis+sentinel://a/main/3", Kind.SENTINEL, [("a", 26_379)], {"db": 3}, "main"),
    ],
)
def test_what_a_url_names(
    url: str, kind: Kind, hosts: list[tuple[str, int]], options: dict[str, object], primary: str
) -> None:
    address = read(url)

    assert address.kind is kind
    assert list(address.hosts) == hosts
    assert address.options == options
    assert address.sentinel_options == {}
    assert address.primary == primary
    assert problem(url) is None


@pytest.mark.parametrize("kind", ["", "+cluster", "+sentinel"])
def test_two_letters_more_are_tls(kind: str) -> None:
    options = read(f"rediss{kind}://a/{'main' if kind == '+sentinel' else ''}").options

    assert options == {"connection_class": SSLConnection}


def test_sentinels_have_a_login_of_their_own() -> None:
    url = "redis+sentinel://:p@a/main?sentinel_username=ann&sentinel_password=s&socket_keepalive=1"
    address = read(url)

    assert address.sentinel_options == {"username": "ann", "password": "s"}
    assert address.options == {"password": "p", "socket_keepalive": True}


@pytest.mark.parametrize(
    "url",
    [
        "http://a",
        "redis+valkey://a",
        "redis://",
        "redis://a,b",
        "redis://a:x",
        "redis+cluster://a,",
        "redis+cluster://a/1",
        "redis+sentinel://a",
        "redis://a?no_such_option=1",
        "rediss://a?ssl_min_version=x",
    ],
)
def test_a_url_that_cannot_be_used(url: str) -> None:
    said = problem(url)

    assert said is not None
    assert said.startswith("must begin with redis://, redis+cluster://, redis+sentinel://")


def test_no_password_is_printed() -> None:
    url = "redis+sentinel://ann:hunter2@a/main?sentinel_password=hunter2"

    assert "hunter2" not in f"{read(url)} {read(url)!r}"
    assert "hunter2" not in str(problem(f"{url}&no_such_option=1"))
