"""An agent one version later: noticed by the real gateway, before a user notices anything."""

from pathlib import Path
from typing import Any

import pytest
import structlog

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import is_whole, post, said
from gateway.frames import Json
from gateway.running import Gateway
from gateway.upgraded import Upgraded
from gateway.waiting import until
from turnwire.cli import main
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = pytest.mark.sockets

SECRET = "the-secret-value"


def later(frame: Json) -> list[Json]:
    """A field that is new in every frame, and a frame that is new."""
    more: list[Json] = []
    if frame["type"] in {"message.finalize", "agentStatus"}:
        more = [{"type": "turn.cost", "amount": 1.5, "note": SECRET}]
    return [*more, {**frame, "sequence": 7, "note": {"text": SECRET}}]


def counted(gateway: Gateway, **labels: str) -> float:
    """Frames with drift, whatever its fingerprint."""
    return sum(
        sample.value
        for metric in gateway.telemetry.drift.collect()
        for sample in metric.samples
        if sample.name.endswith("_total") and labels.items() <= sample.labels.items()
    )


def agents() -> list[Any]:
    sessions = [pytest.param("session-agent", revision, id=revision) for revision in REVISIONS]
    return [pytest.param("v2", None, id="v2"), *sessions]


@pytest.mark.parametrize(("dialect", "revision"), agents())
async def test_a_new_field_and_a_new_type_are_noticed(
    dialect: str, revision: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = tmp_path / "samples"
    lab = ReferenceAgent() if revision is None else SessionAgent(Habits(revision=revision))
    with structlog.testing.capture_logs() as logs:
        async with (
            lab as agent,
            Upgraded(agent.url, lambda frame: [frame]) as line,
            Gateway(line.url, dialect=dialect, drift_samples=str(samples)) as gateway,
        ):
            before = await post(gateway, text="what is 12*7?")
            assert is_whole(before.text)
            assert "84" in said(before.text)
            assert counted(gateway) == 0, "what it says today is no drift"

            line.change = later
            after = await post(gateway, text="what is 12*7?")
            assert said(after.text) == said(before.text), "and it still works"
            assert counted(gateway, dialect=dialect, kind="type") >= 1
            assert counted(gateway, dialect=dialect, kind="field") >= 3
            await until(lambda: samples.exists() and b"turn.cost" in samples.read_bytes())

    lines = [line for line in logs if line["event"] == "the agent's wire has drifted"]
    told = {(line["type"], *line["fields"]) for line in lines}
    assert ("turn.cost", "amount:number", "note:string", "type:string") in told
    assert ("note:object", "sequence:number") in {tuple(fields) for _, *fields in told}
    assert len({line["fingerprint"] for line in lines}) == len(lines)
    kept = samples.read_text()
    assert SECRET not in kept + str(logs)
    assert samples.stat().st_mode & 0o777 == 0o600
    assert len(kept.splitlines()) <= len(lines)
    capsys.readouterr()
    assert main(["drift", str(samples)]) == 0
    shown = capsys.readouterr().out
    assert "turn.cost  an unknown type with amount:number, note:string, type:string" in shown
    assert "unknown fields: note:object, sequence:number" in shown


async def quiet(line: Line) -> None:
    await line.begin()
    await line.say(frames.delta("a"), {"type": "brand.new"}, frames.finalize(new=1))


async def test_switched_off_nobody_listens_in() -> None:
    async with ScriptedAgent(quiet) as agent, Gateway(agent.url(), drift="false") as gateway:
        response = await post(gateway)

        assert is_whole(response.text)
        assert counted(gateway) == 0
        assert gateway.counted("turnwire_frames_unrecognised_total", type="brand.new") == 1


@pytest.mark.parametrize(("new", "seen"), [("field", 8), ("type", 12)])
async def test_some_streams_are_watched_and_the_one_after_an_unknown_type(
    new: str, seen: int
) -> None:
    async def script(line: Line) -> None:
        await line.begin()
        if new == "type":
            await line.say({"type": f"brand.new.{len(agent.lines)}"})
        more = {"more": 1} if new == "field" else {}
        await line.say({**frames.finalize(), **more})

    async with ScriptedAgent(script) as agent, Gateway(agent.url()) as gateway:
        for _ in range(12):
            assert is_whole((await post(gateway)).text)

        assert counted(gateway, kind=new) == counted(gateway) == seen


async def test_a_file_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    with structlog.testing.capture_logs() as logs:
        async with (
            ScriptedAgent(quiet) as agent,
            Gateway(agent.url(), drift_samples=str(samples)) as gateway,
        ):
            samples.unlink(missing_ok=True)
            samples.mkdir()
            response = await post(gateway)
            await until(lambda: any(line["event"] == "no sample was kept" for line in logs))

    assert is_whole(response.text)


async def test_a_file_that_is_long_enough_gets_no_more(tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    samples.write_bytes(b"\n" * 4_194_304)
    async with (
        ScriptedAgent(quiet) as agent,
        Gateway(agent.url(), drift_samples=str(samples)) as gateway,
    ):
        await post(gateway)

    assert samples.stat().st_size == 4_194_304
