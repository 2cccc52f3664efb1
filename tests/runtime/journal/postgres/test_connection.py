import psycopg
import pytest

from turnwire_agent.journal.port import UnavailableError
from turnwire_agent.journal.postgres.connection import Address, unreachable
from turnwire_agent.journal.postgres.journal import PostgresJournal


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://me:canary@host/d?x=y", "no address of Postgres"),
        ("postgresql://me:canary%zz@host/d", "written as %40"),
        ("postgresql://me:canary@[::1/d", "no address of Postgres"),
        ("postgresql://me:canary@host:nope/d", "no number from 1 to 65535"),
        ("postgresql://me:canary@host:0/d", "no number from 1 to 65535"),
        ("postgresql://me:canary@host:65536/d", "no number from 1 to 65535"),
        ("postgresql://me:canary@host:1,other:x/d", "no number from 1 to 65535"),
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(address: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as refused:
        Address(address, 1.0)

    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    ["postgres://", "postgresql://a:1,b:65535/d", "postgresql://a,b:1/d", "host=a port=5432"],
)
def test_what_libpq_takes_is_an_address(address: str) -> None:
    assert Address(address, 1.0).timeout_s == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('server at "h", port 9 failed: Connection refused\n\tIs the', "nothing listens"),
        ('on socket "/s" failed: No such file or directory', "nothing listens"),
        ("failed to resolve host 'h': [Errno -2]", "its host is unknown"),
        ("connection timeout expired", "it does not answer in time"),
        ('FATAL:  password authentication failed for user "canary"', "the user or the password"),
        ("fe_sendauth: no password supplied", "the user or the password"),
        ('FATAL:  Peer authentication failed for user "canary"', "the user or the password"),
        ('FATAL:  database "canary" does not exist', "no such database or user"),
        ("session is read-only", "it takes no writes"),
        ("FATAL:  sorry, too many clients already", "too many connections"),
        ("server does not support SSL, but SSL was required", "TLS with it fails"),
        ("canary", "(OperationalError)"),
    ],
)
def test_why_there_is_no_connection_is_said_in_our_words(text: str, words: str) -> None:
    line = str(unreachable(psycopg.OperationalError(text)))

    assert line.startswith("The journal in Postgres cannot be used")
    assert words in line
    assert "canary" not in line


async def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(UnavailableError, match="nothing listens at its host and port"):
        await PostgresJournal("postgresql://me:canary@127.0.0.1:9/d").start()
