# ruff: noqa: ASYNC240 - a file on this machine blocks nobody
import os
from pathlib import Path

import pytest

from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.port import CredentialError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "key"


async def failure(path: Path) -> tuple[str, str]:
    with pytest.raises(CredentialError) as raised:
        await KeyFile(path).read()
    return raised.value.failure.reason, str(raised.value)


@pytest.mark.parametrize("ending", ["", "\n", "\r\n", "\n\n"])
async def test_line_breaks_at_the_end_are_cut(path: Path, ending: str) -> None:
    path.write_bytes(f"key{ending}".encode())

    assert (await KeyFile(path).read()).reveal() == "key"


async def test_it_is_read_again_when_it_changed_and_only_then(path: Path) -> None:
    path.write_text("first")
    source = KeyFile(path)
    first = await source.read()

    assert await source.read() is first
    path.write_text("a-longer-second")
    assert (await source.read()).reveal() == "a-longer-second"
    other = path.with_name("other")
    other.write_text("as-long-a-third")
    os.utime(other, ns=(0, path.stat().st_mtime_ns))
    other.replace(path)
    third = await source.read()
    assert third.reveal() == "as-long-a-third"
    source.expire()
    assert await source.read() is not third


async def test_a_file_that_became_bad_is_not_taken_for_the_good_one(path: Path) -> None:
    path.write_text("good")
    source = KeyFile(path)
    await source.read()
    path.write_text("bad key")

    for _ in range(2):
        with pytest.raises(CredentialError, match="has a space as character 4"):
            await source.read()


async def test_what_is_no_key_file_is_named(path: Path) -> None:
    assert await failure(path) == ("missing", f"No key: there is no file {path}.")
    assert await failure(path.parent) == ("unusable", f"No key: {path.parent} is not a file.")
    path.write_text("\n")
    assert await failure(path) == ("missing", f"No key: the file {path} is empty.")
    assert await failure(path / "x") == ("unusable", f"No key: {path / 'x'}: Not a directory.")
    path.write_text("k" * 70_000)
    assert await failure(path) == ("unusable", f"No key: {path} is too long to be one.")
    path.write_bytes(b"k\xff")
    assert await failure(path) == (
        "unusable",
        f"The key of the file {path} has no ASCII letter as character 2. No key has that.",
    )


async def test_a_pipe_that_nobody_writes_does_not_hold_it(path: Path) -> None:
    os.mkfifo(path)

    assert await failure(path) == ("unusable", f"No key: {path} is not a file.")
