"""Calls of models under measure: a server with its answers ready, and those who read them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnwire_lab.bench import machine, report
from turnwire_lab.bench.effort import Effort
from turnwire_lab.bench.model_calls import readers, stand
from turnwire_lab.bench.model_calls.answers import CHAT, PATHS, WIRES, Plan, plan_of, writes
from turnwire_lab.bench.model_calls.readers import (
    LITELLM,
    OPENAI,
    OPENAI_AGENTS,
    PYDANTIC_AI,
    RUNTIME,
)
from turnwire_lab.bench.model_calls.stand import Stand
from turnwire_lab.bench.modes import MODES
from turnwire_lab.bench.modes.model_calls import chunks, imports
from turnwire_lab.bench.programs import NotStartedError, Program
from turnwire_lab.bench.rounds import Round, Rounds
from turnwire_lab.bench.run import Run
from turnwire_lab.bench.tools import Tools

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(120)]

PEERS = (OPENAI, PYDANTIC_AI, OPENAI_AGENTS, LITELLM)
TINY = Effort(rounds=1, seconds=0.01, minutes=0)


def new_run(folder: Path) -> Run:
    return Run(Tools(agent=(), client=()), TINY, folder, lambda _: None)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with Stand(new_run(tmp_path_factory.mktemp("stand")), [RUNTIME]) as stand:
        yield stand


def talker(folder: Path, code: str) -> Program:
    command = (sys.executable, "-c", code)
    return Program("it", command, on=machine.cores().rig, log=folder / "log", talks=True)


def test_the_plan_goes_in_the_prompt() -> None:
    plan = Plan(chunks=7, together=2, gap_us=3)

    assert plan_of(b'{"messages":[{"content":"%b"}]}' % plan.words.encode()) == plan
    assert plan_of(b"hello") is None
    assert tuple(PATHS) == WIRES


@pytest.mark.parametrize("wire", WIRES)
def test_five_chunks_are_one_write(wire: str) -> None:
    pieces = writes(wire, Plan(chunks=100))

    assert {each.count(b"\ndata: ") + each.startswith(b"data: ") for each in pieces[:-1]} == {5}
    assert b"".join(pieces) == b"".join(writes(wire, Plan(chunks=100, together=1)))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("plan", [Plan(chunks=200), Plan(chunks=20, together=1, gap_us=100)])
def test_the_runtime_reads_each_answer_whole(ours: Stand, wire: str, plan: Plan) -> None:
    fault, spent = ours.measure(RUNTIME, wire, plan, 2)

    assert fault is None
    assert 0 < spent.gateway_s <= spent.wall_s


def test_an_answer_that_is_not_what_was_planned_is_a_fault(
    ours: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Plan, "text", "another")

    assert ours.read(RUNTIME, CHAT, Plan(chunks=3)) == "3 chunks of 3, or another text"


def test_every_peer_reads_the_answer_whole(tmp_path: Path) -> None:
    """As many as can be started here; `make bench-models` too goes on without the others."""
    there = [name for name in PEERS if readers.missing(name) is None]

    with Stand(new_run(tmp_path), there) as stand:
        faults = {name: stand.read(name, CHAT, Plan(chunks=50)) for name in there}

    assert faults == dict.fromkeys(there)


def test_a_reader_that_ends_says_why(tmp_path: Path) -> None:
    with (
        talker(tmp_path, "raise SystemExit('it broke')") as program,
        pytest.raises(NotStartedError, match="it broke"),
    ):
        program.ask(b"{}", 20)


def test_a_reader_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with (
        talker(tmp_path, "input(); input()") as program,
        pytest.raises(NotStartedError, match="gave no answer"),
    ):
        program.ask(b"{}", 0.1)


def test_a_reader_that_says_something_else_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        stand, "program", lambda *_: talker(tmp_path, "print('Welcome!', flush=True); input()")
    )

    with pytest.raises(NotStartedError, match=r"says something else: b'Welcome!"):
        Stand(new_run(tmp_path), [RUNTIME]).__enter__()


def test_the_modes_measure_who_is_there_and_name_who_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_ENVIRONMENTS", tmp_path)
    run = new_run(tmp_path)

    chunks(run)
    imports(run)

    found = {(each.mode, each.case): each for each in run.rounds}
    assert {case for mode, case in found if mode == "chunks"} == {*WIRES, "alone"}
    assert {case for mode, case in found if mode == "imports"} == {*readers.imports(RUNTIME)}
    assert [each.void for each in run.rounds] == [None] * 6
    assert all(value > 0 for each in run.rounds for value in each.figures.values())
    assert set(run.absent) == set(PEERS)
    assert "`make bench-models` installs it" in run.absent[LITELLM]
    assert {"chunks", "imports"} < MODES.keys()


def test_each_figure_has_its_row() -> None:
    found = Rounds()
    costs = ((RUNTIME, 15.0), (PYDANTIC_AI, 400.0), (LITELLM, 290.0), (OPENAI_AGENTS, 149.0))
    for number in range(3):
        for name, cost in costs:
            figures = {"us_per_chunk": cost + number}
            found.add(
                Round(mode="chunks", case=CHAT, contender=name, number=number, figures=figures)
            )
        found.add(
            Round(
                mode="imports",
                case="turnwire_agent",
                contender=RUNTIME,
                number=number,
                figures={"seconds": 0.4},
            )
        )

    rows = {row.what: (row.measured, row.verdict) for row in report.rows(found)}

    assert rows["Model call, Chat Completions: CPU/chunk"] == ("16.0 µs", "met")
    assert rows["Model call: CPU/chunk vs `pydantic-ai`"] == ("0.04x", "met")
    assert rows["Model call: CPU/chunk vs `litellm`"] == ("0.05x", "missed")
    assert rows["Model call: CPU/chunk vs `openai-agents`"] == ("0.11x", "")
    assert rows["… `litellm`: CPU/chunk"] == ("291 µs", "")
    assert rows["Import of `turnwire_agent`"] == ("0.40 s", "missed")
