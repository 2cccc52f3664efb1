import json
import re
from pathlib import Path

import pytest

from runtime.cli.command import run
from runtime.cli.kept_session import SECRET, keep
from turnwire_agent.journal.port import Row

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of an agent with a tool that has a secret argument, in the folder of its journal."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "agent.toml"
    path.write_text('tools = ["runtime.cli.offered:cancel"]\njournal = "sqlite:kept.db"\n')
    return str(path)


async def test_the_sessions_of_a_journal(agent: str, capsys: Captured) -> None:
    await keep(Path("kept.db"))

    assert await run("sessions", agent) == 0
    assert capsys.readouterr().out == "s1\ns2\n"
    assert await run("sessions", "--journal", "sqlite:kept.db", "--json") == 0
    assert capsys.readouterr().out == '{"session": "s1"}\n{"session": "s2"}\n'


async def test_the_rows_of_a_session_are_read_in_a_terminal(agent: str, capsys: Captured) -> None:
    await keep(Path("kept.db"))

    assert await run("sessions", agent, "--session", "s1") == 0
    out = capsys.readouterr().out
    lines = [re.sub(" +", " ", line.strip()) for line in out.splitlines()]

    assert lines == [
        '1 prompted 2026-11-25T23:00:00Z epoch=1 entry=e1 prompt=p1 user=ann text="Cancel\\no7"',
        "2 turn-begun 2026-11-25T23:00:00Z epoch=1 turn=t1 entry=e1",
        "3 step-begun 2026-11-25T23:00:00Z epoch=1 step=0 attempt=0 model=tiny",
        (
            "4 streamed epoch=1 status=thinking reasoning=Hm."
            ' text="I have to ask.\\u001b[2J" input-of-c1=(hidden) others=["source"]'
        ),
        "5 attempt-lost epoch=1 step=0 attempt=0 why=truncated",
        '6 step-ended epoch=1 step=0 finish=tool-calls calls=["cancel (c1)"] tokens=[10, 2]',
        (
            '7 question-asked epoch=1 question=q1 text="May it?" call=c1 tool=cancel'
            ' input={"order": "o7", "password": "(hidden)"}'
        ),
        "8 turn-parked epoch=1",
        "9 question-closed epoch=1 question=q1 answer=true user=ann",
        (
            "10 call-begun epoch=1 call=c1 tool=cancel"
            ' input={"order": "o7", "password": "(hidden)"} effect=once key=k run=0'
        ),
        "11 turn-taken-over 2026-11-25T23:00:00Z epoch=1",
        '12 call-ended epoch=1 call=c1 tool=cancel outcome=done result="It is done."',
        "13 question-asked epoch=1 question=q2 text=Tea?",
        '14 question-closed epoch=1 question=q2 answer="(none in time)"',
        "15 compacted epoch=1 messages=0",
        "16 turn-ended 2026-11-25T23:00:00Z epoch=1 reason=end_turn finish=stop",
        "17 prompt-repeated epoch=1 entry=e1 prompt=p2",
        "18 prompt-taken-back epoch=1 entry=e9",
        "waits 1 abort",
    ]


async def test_each_row_is_an_object(agent: str, capsys: Captured) -> None:
    await keep(Path("kept.db"))

    assert await run("sessions", agent, "--session", "s1", "--json") == 0
    out = capsys.readouterr().out
    rows = [json.loads(line) for line in out.splitlines()]

    assert SECRET not in out
    assert [row.get("seq") for row in rows] == [*range(1, 19), None]
    assert rows[9]["input"] == {"order": "o7", "password": "(hidden)"}
    assert rows[9]["turn"] == "t1"
    assert rows[-1] == {"waits": 1, "kind": "abort.1"}


async def test_without_an_agent_no_argument_is_shown(agent: str, capsys: Captured) -> None:
    del agent
    await keep(Path("kept.db"))

    assert await run("sessions", "--journal", "sqlite:kept.db", "--session", "s1", "--json") == 0
    out = capsys.readouterr().out
    assert SECRET not in out
    assert json.loads(out.splitlines()[9])["input"] == {"order": "(hidden)", "password": "(hidden)"}


async def test_a_row_of_a_newer_program_is_named(agent: str, capsys: Captured) -> None:
    await keep(Path("kept.db"), (), Row("flown.7", b'"canary"'), Row("prompted.1", b'"canary"'))

    assert await run("sessions", agent, "--session", "s1") == 0
    first, second, _ = capsys.readouterr().out.splitlines()
    assert "flown" in first
    assert "a newer version wrote an event of the kind 'flown.7'" in first
    assert "an event of the kind 'prompted.1' cannot be read" in second
    assert "canary" not in first + second


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--journal", "sqlite:none.db"), 1, "there is no journal none.db"),
        (("--journal", "memory"), 2, "seen by its own process alone"),
        (("--journal-file", "none"), 2, "journal_file: there is no file none"),
        (("--journal", "postgresql://a:b/c"), 2, "journal: the port of the address of Postgres"),
        (("--journal", "sqlite:kept.db", "--session", "s9"), 1, "there is no such session"),
        (("--journal", "sqlite:kept.db", "--session", "a" * 9_999), 2, "sessions: "),
        (("--journal", "sqlite:agent.toml"), 1, "cannot be used (SQLITE_NOTADB)"),
    ],
)
async def test_what_is_not_there_is_one_line(
    agent: str, capsys: Captured, arguments: tuple[str, ...], code: int, words: str
) -> None:
    del agent
    await keep(Path("kept.db"))

    assert await run("sessions", *arguments) == code
    out, errors = capsys.readouterr()
    assert (out, errors.count("\n")) == ("", 1)
    assert words in errors
