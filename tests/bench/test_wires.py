"""Each wire of agents is measured, beside `v2` and beside peers, and each figure has its row."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from turnwire_lab.bench import report
from turnwire_lab.bench.contenders import (
    ACP,
    AG_UI,
    AG_UI_LOGGED,
    AG_UI_NODE,
    AG_UI_PYTHON,
    AG_UI_REDIS,
    OPENAI_CHAT,
    OPENAI_CHAT_NODE,
    OPENAI_CHAT_PYTHON,
    SESSION_AGENT,
    TURNWIRE,
    contender,
    new_setting,
)
from turnwire_lab.bench.effort import Effort
from turnwire_lab.bench.farm import Farm
from turnwire_lab.bench.load import Load, Plan
from turnwire_lab.bench.modes import MODES
from turnwire_lab.bench.programs import NotStartedError, wait_for
from turnwire_lab.bench.rounds import Round, Rounds
from turnwire_lab.bench.run import Run
from turnwire_lab.bench.tools import Tools

HELD = Load(plan=Plan(deltas=1, hold=True), streams=2)


class Asked(Run):
    """Starts nobody, and knows who was asked for."""

    names: Sequence[str] = ()

    def farm(self, *names: str) -> Farm:
        self.names = names
        raise NotStartedError("nobody is to be started")


@pytest.mark.parametrize(
    ("mode", "wires"),
    [
        ("burst", {TURNWIRE, SESSION_AGENT, ACP}),
        ("paced", {TURNWIRE, SESSION_AGENT, ACP}),
        (
            "http-burst",
            {TURNWIRE, AG_UI, OPENAI_CHAT}
            | {AG_UI_NODE, AG_UI_PYTHON, OPENAI_CHAT_NODE, OPENAI_CHAT_PYTHON},
        ),
        ("http-paced", {TURNWIRE, AG_UI, AG_UI_LOGGED, AG_UI_REDIS, OPENAI_CHAT}),
        ("turn-log", {AG_UI, AG_UI_LOGGED, AG_UI_REDIS}),
    ],
)
def test_a_full_run_has_every_wire_beside_v2(tmp_path: Path, mode: str, wires: set[str]) -> None:
    run = Asked(Tools(agent=(), client=()), Effort(), tmp_path, lambda _: None)

    with pytest.raises(NotStartedError):
        MODES[mode](run)

    assert wires <= set(run.names)


def test_the_redis_of_a_turn_log_takes_no_time_from_the_rig(tmp_path: Path) -> None:
    needed = contender(AG_UI_REDIS, new_setting(1, tmp_path)).needs

    assert [each.runs_last for each in needed] == [True, True]
    assert [each.talks for each in needed] == [False, True]


@pytest.mark.sockets
@pytest.mark.timeout(120)
def test_an_agent_of_acp_ends_a_turn_that_is_cancelled(load_tools: Tools, folder: Path) -> None:
    """Else the gateway would wait five seconds for that, and a round would be of such waits."""
    with Farm(load_tools, [ACP], folder) as farm:
        client = farm.start(ACP, HELD)
        farm.all_held(HELD.streams, 10)
        before = farm.stats()
        client.kill()
        began = time.monotonic()
        wait_for(lambda: farm.stats().sockets == 0, 10, "sockets to close")

        assert (before.sockets, before.open) == (2, 2)
        assert farm.stats().aborts == before.aborts + 2
        assert time.monotonic() - began < 4


def test_each_wire_has_its_row_beside_v2() -> None:
    found = Rounds()
    for number in range(3):
        for mode, case, who, name, value in (
            ("burst", "100 streams", TURNWIRE, "frames_per_core_s", 100_000),
            ("burst", "100 streams", ACP, "frames_per_core_s", 20_000),
            ("paced", "100 x 50/s", TURNWIRE, "us_per_frame", 50),
            ("paced", "100 x 50/s", ACP, "us_per_frame", 75),
            ("http-burst", "1 stream", OPENAI_CHAT, "frames_per_core_s", 60_000),
            ("http-burst", "1 stream", OPENAI_CHAT_NODE, "frames_per_core_s", 20_000),
            ("http-burst", "1 stream", OPENAI_CHAT_PYTHON, "frames_per_core_s", 5_000),
            ("http-paced", "100 x 50/s", TURNWIRE, "us_per_frame", 50),
            ("http-paced", "100 x 50/s", OPENAI_CHAT, "us_per_frame", 60),
        ):
            figures = {name: float(value + number)}
            found.add(Round(mode=mode, case=case, contender=who, number=number, figures=figures))

    rows = {row.what: (row.measured, row.verdict) for row in report.rows(found)}

    assert rows["`acp`, burst, 100 streams: frames/s/core vs `v2`"] == ("0.20x", "")
    assert rows["`acp`, 100 x 50/s: CPU/frame vs `v2`"] == ("1.49x", "")
    by_hand = "`openai-chat`, burst, 1 stream: frames/s/core vs {} by hand"
    assert rows[by_hand.format("Node")] == ("3.00x", "")
    assert rows[by_hand.format("httpx")] == ("12.0x", "")
    assert rows["`openai-chat`, 100 x 50/s: CPU/frame vs `v2`"] == ("1.20x", "")
