"""From rounds to a page: rows, notes, Markdown, plots."""

import importlib.util
import random
from pathlib import Path

import msgspec

from gateway.needed import lacking
from turnwire_lab.bench import report, rounds
from turnwire_lab.bench.contenders import (
    AG_UI,
    AG_UI_BESIDE_REDIS,
    AG_UI_LOGGED,
    AG_UI_REDIS,
    DIRECT,
    HANDWRITTEN,
    HELPER,
    NGINX,
    SESSION_AGENT,
    TURNWIRE,
)
from turnwire_lab.bench.goals import (
    GOALS,
    PRICE_OF_FRAME,
    PRICE_OF_STREAM,
    PRICE_OF_TURN,
)
from turnwire_lab.bench.load import Quantiles
from turnwire_lab.bench.measures import added_us
from turnwire_lab.bench.plots import draw
from turnwire_lab.bench.rounds import ROUNDS_A_START, Round, Rounds

TABLE = report.Table(
    machine="a machine",
    date="2026-01-02",
    notes=["so and so"],
    rows=[
        report.Row("much", "≥ 1.00x", "2.00x", "1.90 … 2.10 (5)", "met"),
        report.Row("little", "", "3.00 µs", "3.00 … 3.00 (5)", ""),
        report.Row("nothing", "≥ 1.00x", "", "", "not measured"),
    ],
    pictures=["one.svg:What it shows", "two.svg:And this"],
)


def latency(middle: float) -> Quantiles:
    return Quantiles(1_000, *(middle * part for part in (0.5, 0.6, 0.7, 0.8, 1, 2, 3, 4, 5, 6, 7)))


def run() -> Rounds:
    """Rounds as they might be: turnwire costs half of what others do."""
    found = Rounds()
    dice = random.Random(7)  # noqa: S311 (a toy)
    for number in range(5):
        for name in (TURNWIRE, SESSION_AGENT, HELPER, HANDWRITTEN, NGINX, DIRECT):
            noise = dice.uniform(0.98, 1.02)
            cost = noise * (2.0 if name == TURNWIRE else 4.0)
            for mode, case, figures in (
                ("burst", "1 stream", {"frames_per_core_s": 1e6 / cost}),
                ("paced", "100 x 50/s", {"us_per_frame": 10 * cost}),
                ("length", "10", {"us_per_frame": 10 * cost}),
                ("length", "10000", {"us_per_frame": cost}),
                ("memory", "1000", {"mb_per_1000": 10 * cost}),
            ):
                told = latency(0 if name == DIRECT else 10 * cost) if mode == "paced" else None
                found.add(
                    Round(
                        mode=mode,
                        case=case,
                        contender=name,
                        number=number,
                        figures=figures,
                        latency_us=told,
                    )
                )
    return found


def row(found: Rounds, what: str) -> report.Row:
    return next(each for each in report.rows(found) if each.what == what)


def test_a_row_says_what_was_measured_and_whether_that_is_enough() -> None:
    found = run()

    burst = row(found, "Burst, 1 stream: frames/s/core vs the Node helper")
    paced = row(found, "100 x 50/s: CPU/frame vs nginx proxying finished SSE")
    memory = row(found, "Memory of open streams vs the Node helper")
    added = row(found, "100 x 50/s: added latency p99")

    assert (burst.goal, burst.verdict) == ("≥ 2.50x", "missed")
    assert burst.measured.startswith(("1.9", "2.0"))
    assert burst.spread.endswith("(5)")
    assert (paced.goal, paced.verdict) == ("≤ 1.70x", "met")
    assert (memory.goal, memory.verdict) == ("≤ 0.35x", "missed")
    assert added.verdict == "met"
    assert added.measured.endswith(" µs")


def test_the_latency_with_a_turn_log_is_compared_with_that_without_one() -> None:
    """That in Redis with that beside a Redis that works as much."""
    found = Rounds()
    late_us = {AG_UI: 20.0, AG_UI_LOGGED: 30.0, AG_UI_BESIDE_REDIS: 25.0, AG_UI_REDIS: 25.0}
    for number in range(3 * ROUNDS_A_START):
        for name, middle in late_us.items():
            told = latency(middle * (1 + number / 100))
            found.add(
                Round(
                    mode="turn-log",
                    case="100 x 50/s",
                    contender=name,
                    number=number,
                    figures={"us_per_frame": middle, "calm_p99_us": 2 * middle},
                    latency_us=told,
                )
            )

    rows = [
        row(found, f"`ag-ui`: {what} (interval of 95 %)")
        for what in (
            "latency p99, turn log in memory vs none",
            "latency p99, turn log in Redis vs none beside that Redis",
            "latency p99, none beside that Redis vs none",
            "latency p99, turn log in Redis vs none",
            "latency p99 of calm stretches, turn log in memory vs none",
            "CPU/frame, turn log in memory vs none",
            "CPU/frame, turn log in Redis vs none",
        )
    ]

    assert [each.goal for each in rows] == ["unchanged"] * 2 + [""] * 3 + ["≤ 1.10x", "≤ 1.40x"]
    assert [each.verdict for each in rows] == ["missed", "met", "", "", "", "missed", "met"]
    assert [each.measured for each in rows] == [
        "1.50x",
        "1.00x",
        "1.25x",
        "1.25x",
        "1.50x",
        "1.50x",
        "1.25x",
    ]


def test_what_was_not_measured_has_a_row_that_says_so() -> None:
    missing = row(run(), "Growth over requests 300 to 2,300")

    assert (missing.measured, missing.spread, missing.verdict) == ("", "", "not measured")


def test_every_goal_is_named_once() -> None:
    names = [goal.what for goal in GOALS]

    assert len(names) == len(set(names))


def test_void_rounds_count_for_nothing_and_are_told() -> None:
    found = run()
    whole = found.values("burst", "1 stream", TURNWIRE, "frames_per_core_s")
    found.add(
        Round(
            mode="burst",
            case="1 stream",
            contender=TURNWIRE,
            number=9,
            figures={"frames_per_core_s": 1e9},
            void="streams: 1 wrong",
        )
    )

    notes = report.noise(found, {"nginx": "it is not installed"})

    assert found.values("burst", "1 stream", TURNWIRE, "frames_per_core_s") == whole
    assert "1 were void" in notes[0]
    assert notes[1:] == [
        "Void: burst 1 stream, turnwire: streams: 1 wrong",
        "Not there: nginx, since it is not installed.",
    ]


def test_a_busy_machine_is_told_first() -> None:
    quiet = Round(mode="m", case="c", contender="n", number=0)
    disturbed = Round(mode="m", case="c", contender="n", number=1, foreign=0.5)

    notes = report.noise(Rounds([quiet, disturbed, disturbed]), {})

    assert notes[0] == report.BUSY
    assert "2 stayed disturbed" in notes[1]
    assert report.BUSY not in report.noise(Rounds([quiet, disturbed]), {})


def test_figures_that_could_not_be_reckoned_are_left_out() -> None:
    odd = Round(mode="m", case="c", contender="n", number=0, figures={"x": float("nan")})

    assert Rounds([odd]).values("m", "c", "n", "x") == {}


def test_latency_is_what_is_added_to_the_rigs_own() -> None:
    found = run()

    assert added_us(found, "100 x 50/s", TURNWIRE, "p50").keys() == {0, 1, 2, 3, 4}
    assert 19 < added_us(found, "100 x 50/s", TURNWIRE, "p50")[0] < 21
    assert added_us(found, "400 x 50/s", TURNWIRE, "p50") == {}


def test_a_page_shows_rows_that_were_measured() -> None:
    page = report.markdown(TABLE)

    assert "| much | ≥ 1.00x | 2.00x | 1.90 … 2.10 (5) | met |\n" in page
    assert "| little |" in page
    assert "nothing" not in page
    assert page.endswith("\n2026-01-02, a machine.\n\n- so and so\n")


def test_where_room_is_small_there_is_a_line_for_each_figure() -> None:
    page = report.headlines(TABLE, {"much": "A lot", "unmeasured": "Nothing"})

    assert page.startswith("- A lot: 2.00x (goal ≥ 1.00x; rounds 1.90 … 2.10 (5))\n\n")
    assert "Nothing" not in page
    assert "little" not in page
    assert report.headlines(TABLE, {}) == report.NOTHING
    assert report.pictures(TABLE, "docs/p", 1) == "![What it shows](docs/p/one.svg)\n"


def test_prices_are_reckoned_with() -> None:
    rows = [
        report.Row(what, "", measured, "…", "")
        for what, measured in (
            (PRICE_OF_FRAME, "60.0 µs"),
            (PRICE_OF_TURN, "1,000 µs"),
            (PRICE_OF_STREAM, "28.0 MB"),
        )
    ]
    table = report.Table(machine="a machine", date="2026-01-02", notes=[], rows=rows)

    page = report.prices(table)

    assert "200 * 50 * 60 µs = 0.60 of such a core" in page
    assert "20 * 1000 µs = 0.02 more" in page
    assert "| 1,000 open streams | 28.0 MB |" in page
    assert report.prices(msgspec.structs.replace(table, rows=rows[:2])) == report.NOTHING


def test_the_prices_are_among_the_rows() -> None:
    named = {goal.what for goal in GOALS}

    assert {PRICE_OF_FRAME, PRICE_OF_TURN, PRICE_OF_STREAM} <= named


def test_without_a_run_a_page_says_so(tmp_path: Path) -> None:
    assert report.read(tmp_path) is None
    assert report.markdown(None) == report.NOTHING
    assert report.headlines(None, {"much": "A lot"}) == report.NOTHING
    assert report.prices(None) == report.NOTHING
    assert report.pictures(None, "docs/p") == ""


def test_what_is_kept_is_read_as_it_was(tmp_path: Path) -> None:
    found = run()

    report.write(tmp_path, TABLE)
    rounds.write(tmp_path / "rounds.jsonl", found)

    assert report.read(tmp_path) == TABLE
    assert list(rounds.read(tmp_path / "rounds.jsonl")) == list(found)


def test_what_was_measured_is_drawn_and_nothing_else(tmp_path: Path) -> None:
    if importlib.util.find_spec("matplotlib") is None:
        lacking("matplotlib is not installed (`make bench` installs it)")

    drawn = draw(run(), tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    names = {each.partition(":")[0] for each in drawn}
    assert names == {"frames.svg", "paced.svg", "latency-100.svg", "memory.svg", "length.svg"}
    assert files.keys() == names
    assert b"Node helper" in files["frames.svg"]
