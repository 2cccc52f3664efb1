from pathlib import Path

import pytest

from runtime.generate.served import model, serving
from runtime.llm.call.called import ANSWER
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends
from turnwire_agent.access.access import is_loopback, is_own_name

WHOLE = sends(STREAM_HEAD + ANSWER)


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("LOCALHOST:8790", True),
        ("127.0.0.1:8790", True),
        ("127.9.9.9", True),
        ("[::1]:8790", True),
        ("[::1]", True),
        ("", False),
        ("evil.example", False),
        ("localhost.evil.example:8790", False),
        ("127.0.0.1.evil.example", False),
        ("10.0.0.1:8790", False),
        ("localhost:x", False),
    ],
)
def test_names_of_this_machine(host: str, own: bool) -> None:  # noqa: FBT001
    assert is_own_name(host) is own


def test_an_address_that_others_reach_is_none_of_loopback() -> None:
    assert not is_loopback("0.0.0.0")  # noqa: S104
    assert not is_loopback("::")
    assert is_loopback("::1")


@pytest.mark.sockets
async def test_where_others_reach_it_any_host_may_be_named_but_no_page_gets_in(
    tmp_path: Path,
) -> None:
    file = tmp_path / "token"
    file.write_text("t")
    async with (
        ScriptedServer([WHOLE]) as provider,
        serving(model(provider.url), token=file, loopback=False) as program,
    ):
        named = await program.post(authorization="Bearer t", host="models.example")
        page = await program.post(authorization="Bearer t", origin="https://models.example")

    assert named.status_code == 200
    assert page.status_code == 403
