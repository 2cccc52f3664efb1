from pathlib import Path

import pytest

from runtime.generate.served import model, refused, serving
from runtime.llm.call.called import ANSWER
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends

WHOLE = sends(STREAM_HEAD + ANSWER)


@pytest.mark.sockets
async def test_the_token_is_that_of_the_file_as_it_is_now(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("first-token\n")
    async with (
        ScriptedServer([WHOLE]) as provider,
        serving(model(provider.url), token=file) as program,
    ):
        without = await program.post()
        basic = await program.post(authorization="Basic first-token")
        empty = await program.post(authorization="Bearer")
        wrong = await program.post(authorization="Bearer other-token")
        odd = await program.post(authorization="Bearer \xe9".encode("latin-1"))  # type: ignore[arg-type]
        right = await program.post(authorization="bearer first-token")
        file.write_text("second-token\n")
        late = await program.post(authorization="Bearer first-token")
        new = await program.post(authorization="Bearer second-token")
        file.unlink()
        gone = await program.post(authorization="Bearer second-token")

    for each in (without, basic, empty):
        assert refused(each) == (401, "A bearer token is needed.")
        assert each.headers["www-authenticate"] == "Bearer"
    for each in (wrong, odd, late):
        assert refused(each) == (401, "The bearer token is wrong.")
    assert (right.status_code, new.status_code) == (200, 200)
    assert refused(gone) == (503, "The server cannot read its token.")
    assert len(provider.asked) == 2
