import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnwire_lab import cli
from turnwire_lab.bench import command, report
from turnwire_lab.bench.effort import QUICK, Effort
from turnwire_lab.bench.tools import NotBuiltError, Tools

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def _unpinned() -> Iterator[None]:
    before = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.timeout(180)
def test_a_run_prints_a_table_and_keeps_all_rounds(
    load_tools: Tools,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "tools", lambda **_: load_tools)
    arguments = ["--only", "twice", "--rounds", "1", "--seconds", "0.01"]

    code = cli.main(["bench", *arguments, "--raw", str(tmp_path / "raw")])

    table = report.read(tmp_path / "raw")
    lines = (tmp_path / "raw" / "rounds.jsonl").read_text().splitlines()
    assert code == 0
    assert table is not None
    assert {json.loads(line)["mode"] for line in lines} == {"twice"}
    assert "| CPU/delta sent twice vs once | ≤ 1.70x | 1 of 3 rounds |" in capsys.readouterr().out


def test_a_run_that_measures_nothing_fails(
    load_tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "tools", lambda **_: load_tools)
    monkeypatch.setattr(command, "run_modes", lambda *_: None)

    code = cli.main(["bench", "--quick", "--raw", str(tmp_path)])

    table = report.read(tmp_path)
    assert code == 1
    assert table is not None
    assert any(note.startswith("0 rounds;") for note in table.notes)


def test_sources_that_do_not_compile_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(**_: object) -> Tools:
        raise NotBuiltError("agent.c:1: error")

    monkeypatch.setattr(command, "tools", refuses)

    assert cli.main(["bench", "--quick"]) == 1
    assert "agent.c:1: error" in capsys.readouterr().err


def test_a_missing_compiler_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")

    assert cli.main(["bench", "--quick"]) == 1
    assert "need a C compiler, and 'no-such-compiler' is none" in capsys.readouterr().err


def test_where_nothing_can_be_read_or_drawn_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    undrawn = cli.main(["bench", "--publish", str(tmp_path)])
    monkeypatch.setattr("sys.platform", "darwin")
    elsewhere = cli.main(["bench"])

    assert (undrawn, elsewhere) == (1, 1)
    assert "extra `bench`" in (err := capsys.readouterr().err)
    assert "Linux" in err


def test_less_is_measured_where_less_is_asked_for() -> None:
    trial = command._effort(Effort(), 1, 0.05)

    assert (trial.rounds, trial.seconds, trial.streams_of_memory) == (1, 0.05, 100)
    assert command._effort(QUICK, None, None) == QUICK
    assert command._effort(Effort(), None, 0.5).streams_of_memory == 1_000
    assert 400_000 in Effort().lengths()
    assert Effort().crowds()[-1] == 9_500
    assert Effort().crowds_of_workers()[-1] == 10_000
