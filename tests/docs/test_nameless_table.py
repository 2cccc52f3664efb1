"""What counts as ours without saying so is listed, and each row is held by a test."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turnwire.dialects.session_agent import frames as session_agent_frames
from turnwire.dialects.session_agent.frames import ChannelFields
from turnwire.dialects.v2 import frames
from turnwire_lab.docs.nameless import SESSION_AGENT, V2, UnclearMarkError, rows
from turnwire_lab.docs.tables import TABLES

MARKED = """
import pytest

@pytest.mark.nameless("a hat", "if it fits", "nobody else is here")
@pytest.mark.parametrize("x", [1])
def test_a_hat(x): ...

def test_a_coat(): ...
"""


def test_every_mark_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "test_hats.py"
    path.write_text(MARKED)

    row = ("a hat", "if it fits", "nobody else is here", "`test_hats`: `test_a_hat`")
    assert list(rows([path])) == [row]


@pytest.mark.parametrize("said", ['"a hat"', '"a hat", "if it fits", 3', ""])
def test_a_mark_that_says_something_else_is_an_error(tmp_path: Path, said: str) -> None:
    path = tmp_path / "test_hats.py"
    path.write_text(MARKED.replace('"a hat", "if it fits", "nobody else is here"', said))

    with pytest.raises(UnclearMarkError, match=re.escape("test_hats.py: test_a_hat")):
        list(rows([path]))


def _tag(kind: Any) -> str:
    return str(kind.__struct_config__.tag)


def test_every_frame_of_v2_that_need_not_name_its_turn_or_prompt_has_a_row() -> None:
    """Every other frame has its turn's id, or is of no turn."""
    listed = TABLES["nameless-v-two"]()
    need_not = [*frames.Unnamed.__subclasses__(), frames.MessageCreate]

    assert len(need_not) == 7
    assert {_tag(kind) for kind in need_not if f"`{_tag(kind)}`" not in listed} == set()
    for kind in [kind for kind in frames.KNOWN if kind not in need_not]:
        fields = {field.name: field for field in msgspec.structs.fields(kind)}
        named = fields.get("turn_id") or fields.get("message_id")
        assert named is None or named.required, _tag(kind)
        assert "prompt_id" not in fields, _tag(kind)


def _placed() -> Iterator[str]:
    """The frames that may say where they belong, by themselves or in their data."""
    for kind in session_agent_frames.KNOWN:
        fields: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(kind)}
        if issubclass(kind, ChannelFields) or issubclass(fields.get("data", int), ChannelFields):
            yield _tag(kind)


def test_every_frame_of_session_agent_that_need_not_name_its_channel_has_a_row() -> None:
    listed = TABLES["nameless-session-agent"]()
    need_not = {*_placed(), "queue.state", "audit_log"}

    assert {"message", "message.updated", "chunk", "status", "error"} < need_not
    assert {tag for tag in need_not if f"`{tag}`" not in listed} == set()


@pytest.mark.parametrize("paths", [V2, SESSION_AGENT])
def test_the_tests_that_hold_a_row_are_there(paths: list[Path]) -> None:
    assert len(list(rows(paths))) > 8
