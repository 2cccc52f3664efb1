import argparse
import json
import sys
from pathlib import Path

import pytest

from gateway.signers import signer
from runtime.cli.command import run
from runtime.llm.scripted_server import ScriptedServer, response, sends
from turnwire_agent.access.access import Tokens
from turnwire_agent.access.file_token import FileToken
from turnwire_agent.access.refusal import RefusedError
from turnwire_agent.cli.access_arguments import add_access_arguments, tokens
from turnwire_agent.llm.call.http import http_client

Captured = pytest.CaptureFixture[str]
TERMS = ("--token-issuer", "us", "--token-audience", "")
KEYS = {"keys": [signer("ES256").jwk("k")]}
MODEL = ("generate", "--model", "tiny=ollama:tiny")


async def made(*words: str) -> Tokens | None:
    parser = argparse.ArgumentParser()
    add_access_arguments(parser)
    async with http_client() as client:
        return await tokens(parser.parse_args(words), client)


async def test_they_are_those_of_a_file_or_those_that_a_key_set_verifies(tmp_path: Path) -> None:
    token, keys = tmp_path / "token", tmp_path / "keys.json"
    token.write_text("t")
    keys.write_text(json.dumps(KEYS))

    assert await made() is None
    assert isinstance(await made("--token-file", str(token)), FileToken)
    signed = await made("--token-jwks", str(keys), *TERMS)
    assert signed
    assert (await signed.caller(signer("ES256").token("k", iss="us", aud="any"))).user == "u1"
    with pytest.raises(RefusedError):
        await signed.caller(signer("ES256").token("k", iss="them"))


async def test_an_audience_that_is_named_counts(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps(KEYS))
    terms = ("--token-issuer", "", "--token-audience", "agent")
    signed = await made("--token-jwks", str(keys), *terms)

    assert signed
    assert (await signed.caller(signer("ES256").token("k", aud="agent"))).user == "u1"
    with pytest.raises(RefusedError):
        await signed.caller(signer("ES256").token("k", aud="other"))


@pytest.mark.sockets
async def test_a_server_of_keys_that_is_not_there_yet_is_told_and_asked_again(
    capsys: Captured,
) -> None:
    async with ScriptedServer([sends(response(500)), sends(response(200, KEYS))]) as server:
        assert await made("--token-jwks", server.url, *TERMS)

    _, err = capsys.readouterr()
    assert err == "--token-jwks: its server answers 500; requests get 503 until it is there\n"


async def test_what_does_not_fit_together_is_one_line(capsys: Captured, tmp_path: Path) -> None:
    empty = tmp_path / "keys.json"
    empty.write_text('{"keys": []}')
    jwks = ("--token-jwks", str(empty))
    for words, code, line in (
        (jwks, 2, "--token-jwks needs --token-issuer and --token-audience ('': any)"),
        ((*jwks, *TERMS[:2]), 2, "--token-jwks needs --token-issuer"),
        ((*jwks, *TERMS[2:]), 2, "--token-jwks needs --token-issuer"),
        (TERMS[:2], 2, "--token-issuer and --token-audience are of --token-jwks"),
        (("--token-jwks", "http://us.example/", *TERMS), 2, "a key set is at an https: URL"),
        ((*jwks, *TERMS, "--token-leeway-s", "301"), 2, "clocks are 0 to 300 s apart"),
        ((*jwks, *TERMS), 2, f"token_jwks: {empty}: it has no key that verifies tokens"),
        (("--token-jwks", "nowhere", *TERMS), 2, "token_jwks: nowhere: there is no such file"),
    ):
        assert await run(*MODEL, *words) == code, words
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith(f"turnwire-agent generate: {line}")
        assert err.count("\n") == 1
    assert await run(*MODEL, *jwks, "--token-file", "x") == 2
    assert "not allowed with argument" in capsys.readouterr().err


async def test_a_missing_extra_is_one_line(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("public_keys", "key_set", "key_set_source", "signed_tokens"):
        monkeypatch.delitem(sys.modules, f"turnwire_agent.access.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "jwt", None)

    assert await run(*MODEL, "--token-jwks", "keys.json", *TERMS) == 1
    assert capsys.readouterr().err == (
        "turnwire-agent generate: signed tokens are verified with "
        "pip install 'turnwire-agent[tokens]'\n"
    )
