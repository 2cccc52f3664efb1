"""The text of a new file: what the wire needs is set, the rest has its defaults."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from gateway.tokens import KEY
from support.plugged import Plugs
from turnwire.cli.env_file.template import COMMON, NOTES, example_url, file_text, needed
from turnwire.config.dialect_loading import find
from turnwire.config.effective import agent_auth, history_keeper, turn_log_place
from turnwire.config.env_file import parse
from turnwire.config.environ import from_environ
from turnwire.config.lists import signing_keys
from turnwire.config.settings import Settings, variable
from turnwire.dialects import DIALECTS

REQUIRED = ("enabled", "dialect", "agent_url", "jwt_key")
OF_THE_WIRE = ("agent_auth", "history", "idle_s", "turn_log")
"""Fields that are unset by default, and that the file shows as they come out."""


def values(text: str) -> dict[str, str]:
    assignments, problems = parse(text)
    assert problems == []
    return {each.name: each.value for each in assignments}


def with_url(text: str, url: str) -> str:
    return text.replace("TURNWIRE_AGENT_URL=\n", f"TURNWIRE_AGENT_URL={url}\n")


def uncommented(text: str) -> str:
    return re.sub(r"^#(?=TURNWIRE_)", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("wire", DIALECTS)
def test_what_the_wire_needs_is_set_and_nothing_else(wire: str) -> None:
    set_there = values(file_text(wire, KEY))

    wanted = {variable(field) for field in (*REQUIRED, *needed(find(wire)))}
    assert set(set_there) == wanted
    assert set_there["TURNWIRE_ENABLED"] == "true"
    assert set_there["TURNWIRE_DIALECT"] == wire
    assert set_there["TURNWIRE_JWT_KEY"] == KEY
    assert [name for name, value in set_there.items() if not value] == ["TURNWIRE_AGENT_URL"]


@pytest.mark.parametrize("wire", DIALECTS)
def test_the_example_of_the_url_makes_it_complete(wire: str) -> None:
    text = file_text(wire, KEY)

    assert f"# For example: {example_url(wire)}\nTURNWIRE_AGENT_URL=\n" in text
    assert from_environ(values(with_url(text, example_url(wire)))).enabled


@pytest.mark.parametrize("wire", DIALECTS)
def test_a_line_that_is_no_comment_any_more_changes_nothing(wire: str) -> None:
    text = with_url(file_text(wire, KEY), example_url(wire))
    before, after = from_environ(values(text)), from_environ(values(uncommented(text)))

    same = {field: getattr(before, field) for field in OF_THE_WIRE}
    assert msgspec.structs.replace(after, **same) == before
    assert agent_auth(after) == agent_auth(before)
    assert history_keeper(after) == history_keeper(before)
    assert turn_log_place(after) == turn_log_place(before)
    assert after.idle_s == find(wire).idle_s


@pytest.mark.parametrize("wire", DIALECTS)
def test_what_is_changed_most_is_a_comment_below_one_line_of_its_description(wire: str) -> None:
    blocks = file_text(wire, KEY).split("\n\n")

    for field in COMMON:
        if field not in find(wire).needs:
            (block,) = [each for each in blocks if f"#{variable(field)}=" in each]
            comment, _ = block.splitlines()
            shown = comment[2:].removesuffix(NOTES.get(field, "")).partition(" One of ")[0]
            assert description(field).startswith(shown)


@pytest.mark.parametrize("wire", DIALECTS)
def test_what_is_needed_stands_below_its_whole_description(wire: str) -> None:
    blocks = [block.replace("\n# ", " ") for block in file_text(wire, KEY).split("\n\n")]

    for field in (*REQUIRED, *needed(find(wire))):
        (block,) = [each for each in blocks if f"\n{variable(field)}=" in each]
        assert block.startswith(f"# {description(field)}")


def test_the_words_that_a_setting_may_be_are_named() -> None:
    text = file_text("v2", KEY)

    assert "# Lowest level that is logged. One of debug, info, warning, error.\n" in text
    assert "hangs up. One of abort, grace, continue.\n" in text
    assert "in `Authorization`. One of forward, service, none.\n" in text
    assert "# Port to listen on.\n#TURNWIRE_PORT=8787\n" in text


@pytest.mark.parametrize("wire", DIALECTS)
def test_a_key_that_is_made_as_the_file_says_is_taken(wire: str) -> None:
    """Without one, an app that asks for native approvals is refused."""
    text = with_url(file_text(wire, KEY), example_url(wire))
    (made_by,) = re.findall(
        r"# Keys for approvals.*`(.+)` makes one\.\n#TURNWIRE_SIGNING_KEYS=\n", text
    )
    made = subprocess.run(shlex.split(made_by), capture_output=True, text=True, check=True).stdout
    before = from_environ(values(text))
    line = f"TURNWIRE_SIGNING_KEYS={made.strip()}"
    after = from_environ(values(text.replace("#TURNWIRE_SIGNING_KEYS=", line)))

    assert signing_keys(before) == ()
    assert signing_keys(after) == (made.strip().encode(),)


def test_the_lines_of_a_comment_are_short_where_they_are_several() -> None:
    head = file_text("openai-chat", KEY).partition("# These are changed most.")[0]

    assert max(map(len, head.splitlines())) <= 100


@pytest.fixture
def plugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugs]:
    yield Plugs(tmp_path, monkeypatch)
    monkeypatch.undo()
    Plugs.forget()


@pytest.mark.parametrize(
    ("transport", "url"),
    [("http", "https://agents.example/"), ("websocket", "wss://agents.example/{session_id}")],
)
def test_a_dialect_of_others_has_a_url_by_its_transport(
    transport: str, url: str, plugs: Plugs
) -> None:
    place = plugs.dialect(f"transport = {transport!r}; needs = frozenset({{'agent_model'}})")
    text = file_text(place, KEY)

    assert example_url(place) == url
    assert values(text)["TURNWIRE_DIALECT"] == place
    assert values(text)["TURNWIRE_AGENT_MODEL"] == "my-agent"
    assert from_environ(values(with_url(text, example_url(place)))).dialect == place


def description(field: str) -> str:
    for each in msgspec.structs.fields(Settings):
        if each.name == field:
            return str(next(m.description for m in each.type.__metadata__ if m.description))
    raise KeyError(field)
