"""The clients, against streams that are right and wrong in every way that they look for."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from bench.streams import FRAMES, PLAN, RIGHT, TOOL, WRONG, delta, record, response, served
from gateway.waiting import PATIENCE_S
from turnwire_lab.bench.fallback.checker import Checker
from turnwire_lab.bench.load import Found, Load, Plan, found
from turnwire_lab.bench.tools import Tools

pytestmark = pytest.mark.sockets


async def asked(
    tools: Tools, body: str, plan: Plan = PLAN, *, frames: bool = False
) -> tuple[Found, str]:
    async with served(lambda: response(body)) as port:
        return await run(tools.client, Load(plan=plan).arguments(port, "/x", frames=frames))


async def run(client: Sequence[str], arguments: Sequence[str]) -> tuple[Found, str]:
    process = await asyncio.create_subprocess_exec(
        *client, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 0, err.decode()
    return found(out), err.decode()


def judged(body: str, *, piece: int, frames: bool = False) -> str | None:
    checker = Checker(PLAN, lambda *_: None, frames=frames)
    for at in range(0, len(body), piece):
        checker.feed(body[at : at + piece].encode())
    return checker.verdict()


@pytest.mark.parametrize("piece", [1, 3, 1_000])
def test_the_checker_in_python_tells_right_from_wrong(piece: int) -> None:
    assert judged(RIGHT, piece=piece) is None
    assert judged(FRAMES, piece=piece, frames=True) is None
    assert {judged(body, piece=piece) for body in WRONG.values()} == set(WRONG)
    assert judged(FRAMES.replace(delta(1), ""), piece=piece, frames=True) is not None


async def test_a_right_stream_is_right(native: Tools) -> None:
    result, err = await asked(native, RIGHT)

    assert (result.fault, result.streams, result.deltas, err) == (None, 1, PLAN.deltas, "")


@pytest.mark.parametrize("why", WRONG)
async def test_a_wrong_stream_is_told(native: Tools, why: str) -> None:
    result, err = await asked(native, WRONG[why])

    assert result.wrong == 1
    assert result.fault == "streams: 1 wrong"
    assert why in err


async def test_a_lost_delta_is_seen_among_thousands(native: Tools) -> None:
    plan = Plan(deltas=9_000, size=PLAN.size)
    deltas = [record(delta(number)) for number in range(plan.deltas)]
    head, _, end = RIGHT.partition("".join(deltas[:3]))
    right, _ = await asked(native, head + "".join(deltas) + end, plan)
    deltas[5_000], deltas[5_001] = deltas[5_001], deltas[5_000]

    wrong, err = await asked(native, head + "".join(deltas) + end, plan)

    assert right.fault is None
    assert (wrong.wrong, "out of order" in err) == (1, True)


async def test_frames_are_checked_as_records_are(native: Tools) -> None:
    right, _ = await asked(native, FRAMES, frames=True)
    wrong, _ = await asked(native, FRAMES.replace(delta(1), delta(2)), frames=True)
    cut, _ = await asked(native, FRAMES.replace("message.finalize", "complete"), frames=True)

    assert [each.wrong for each in (right, wrong, cut)] == [0, 1, 1]


async def test_tools_that_were_planned_must_come(native: Tools) -> None:
    plan = Plan(deltas=PLAN.deltas, size=PLAN.size, tools=1)

    with_one, _ = await asked(native, WRONG["tools are missing"], plan)
    with_two, _ = await asked(native, RIGHT.replace("data:", f"{TOOL}{TOOL}data:", 1), plan)

    assert (with_one.wrong, with_two.wrong) == (0, 1)


@pytest.mark.parametrize("name", ["native", "python"])
async def test_refused_and_broken_streams_are_counted(
    name: str, request: pytest.FixtureRequest
) -> None:
    tools: Tools = request.getfixturevalue(name)
    refusal = b"HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n"
    answers = iter([response(RIGHT), refusal, response(RIGHT)[:-20], response(RIGHT)])
    async with served(lambda: next(answers)) as port:
        arguments = Load(plan=PLAN, total=4).arguments(port, "/x", frames=False)
        result, _ = await run(tools.client, arguments)

    assert (result.streams, result.refused, result.failed, result.wrong) == (4, 1, 1, 0)


async def test_both_clients_print_the_same_fields(native: Tools, python: Tools) -> None:
    printed: list[dict[str, Any]] = []
    for tools in (native, python):
        async with served(lambda: response(RIGHT)) as port:
            arguments = Load(plan=PLAN).arguments(port, "/x", frames=False)
            process = await asyncio.create_subprocess_exec(
                *tools.client, *arguments, stdout=asyncio.subprocess.PIPE
            )
            out, _ = await asyncio.wait_for(process.communicate(), PATIENCE_S)
            printed.append(json.loads(out))

    assert printed[0].keys() == printed[1].keys()
    assert printed[0]["first_delta_us"].keys() == printed[1]["first_delta_us"].keys()
    assert [each["deltas"] for each in printed] == [PLAN.deltas] * 2
