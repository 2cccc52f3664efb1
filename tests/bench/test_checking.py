"""The client, against streams that are right and wrong in every way that it looks for."""

import asyncio
from collections.abc import Sequence

import pytest

from bench.streams import FRAMES, PLAN, RIGHT, TOOL, WRONG, delta, record, response, served
from gateway.waiting import PATIENCE_S
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


async def test_a_right_stream_is_right(load_tools: Tools) -> None:
    result, err = await asked(load_tools, RIGHT)

    assert (result.fault, result.streams, result.deltas, err) == (None, 1, PLAN.deltas, "")


@pytest.mark.parametrize("why", WRONG)
async def test_a_wrong_stream_is_told(load_tools: Tools, why: str) -> None:
    result, err = await asked(load_tools, WRONG[why])

    assert result.wrong == 1
    assert result.fault == "streams: 1 wrong"
    assert why in err


async def test_a_lost_delta_is_seen_among_thousands(load_tools: Tools) -> None:
    plan = Plan(deltas=9_000, size=PLAN.size)
    deltas = [record(delta(number)) for number in range(plan.deltas)]
    head, _, end = RIGHT.partition("".join(deltas[:3]))
    right, _ = await asked(load_tools, head + "".join(deltas) + end, plan)
    deltas[5_000], deltas[5_001] = deltas[5_001], deltas[5_000]

    wrong, err = await asked(load_tools, head + "".join(deltas) + end, plan)

    assert right.fault is None
    assert (wrong.wrong, "out of order" in err) == (1, True)


async def test_frames_are_checked_as_records_are(load_tools: Tools) -> None:
    right, _ = await asked(load_tools, FRAMES, frames=True)
    wrong, _ = await asked(load_tools, FRAMES.replace(delta(1), delta(2)), frames=True)
    cut, _ = await asked(load_tools, FRAMES.replace("message.finalize", "complete"), frames=True)

    assert [each.wrong for each in (right, wrong, cut)] == [0, 1, 1]


async def test_tools_that_were_planned_must_come(load_tools: Tools) -> None:
    plan = Plan(deltas=PLAN.deltas, size=PLAN.size, tools=1)

    with_one, _ = await asked(load_tools, WRONG["tools are missing"], plan)
    with_two, _ = await asked(load_tools, RIGHT.replace("data:", f"{TOOL}{TOOL}data:", 1), plan)

    assert (with_one.wrong, with_two.wrong) == (0, 1)


async def test_refused_and_broken_streams_are_counted(load_tools: Tools) -> None:
    refusal = b"HTTP/1.1 503 Unavailable\r\ncontent-length: 0\r\n\r\n"
    answers = iter([response(RIGHT), refusal, response(RIGHT)[:-20], response(RIGHT)])
    async with served(lambda: next(answers)) as port:
        arguments = Load(plan=PLAN, total=4).arguments(port, "/x", frames=False)
        result, _ = await run(load_tools.client, arguments)

    assert (result.streams, result.refused, result.failed, result.wrong) == (4, 1, 1, 0)
