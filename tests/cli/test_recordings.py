"""`turnwire replay`: which recordings it reads, and which turn of them it follows."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.plugged import Plugs
from turnwire.cli import main

GOLDEN = Path(__file__).parent.parent / "golden" / "v2"
Captured = pytest.CaptureFixture[str]


@pytest.mark.parametrize("recording", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_replay_is_the_transcript(
    recording: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["replay", str(recording), "--dialect", "v2"]) == 0

    out, err = capfdbinary.readouterr()
    assert out == recording.with_suffix(".sse").read_bytes()
    odd = b"lines are no frames" in err
    assert odd == (recording.stem == "broken_frames")


@pytest.mark.parametrize("named", [[], ["--prompt-id", "mine"]])
def test_the_only_prompt_of_a_recording_is_followed(
    named: list[str], tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(RECORDING)

    assert main(["replay", str(file), *named]) == 0
    assert b'"messageId":"t"' in capfdbinary.readouterr().out


@pytest.mark.parametrize("named", [[], ["--prompt-id", "other"]])
def test_it_is_said_which_prompts_a_recording_has(
    named: list[str], tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "two.jsonl"
    file.write_text(RECORDING + RECORDING.replace("mine", "yours"))

    assert main(["replay", str(file), *named]) == 1
    assert "choose one with --prompt-id: mine, yours" in capsys.readouterr().err


def test_a_recording_may_come_from_standard_input(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RECORDING.encode())))

    assert main(["replay", "-"]) == 0
    assert b'"messageId":"t"' in capfdbinary.readouterr().out


RECORDING = """\
# a turn of another prompt
{"type":"message.create","turnId":"t","promptId":"mine"}
{"type":"message.finalize","turnId":"t","usage":{"promptTokens":1,"completionTokens":2,"totalTokens":3}}
"""


def test_a_replay_follows_the_prompt_that_it_is_told_to(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "turn.jsonl"
    file.write_text(RECORDING)

    assert main(["replay", str(file), "--prompt-id", "mine", "--no-event-lines", "--usage"]) == 0

    out = capfdbinary.readouterr().out
    assert b"event:" not in out
    assert b'"totalTokens":3' in out
    assert out.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot read"),
        (b"#! dance\n", "unknown line: #! dance"),
        (b"#! after\n", "unknown line: #! after"),
        (b"#! after soon\n", "soon"),
        (b"#! \xff\n", "utf-8"),
    ],
)
def test_a_replay_that_cannot_be_read_fails_in_one_line(
    content: bytes | None, why: str, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "turn.jsonl"
    if content is not None:
        file.write_bytes(content)

    assert main(["replay", str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("turnwire: ")
    assert why in err
    assert err.count("\n") == 1


@pytest.mark.sockets
def test_a_reader_that_hangs_up_on_a_replay_is_no_crash() -> None:
    """As `turnwire replay … | head -1` does."""
    recording = GOLDEN / "text.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "turnwire", "replay", str(recording)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    process.wait(20)

    assert told == b""
    assert process.returncode == 1


OTHERS = sorted(path for path in GOLDEN.parent.glob("session-agent-*/*.jsonl"))
EQUAL = {"cleared", "dropped", "refused", "unreachable_later"}
"""Recordings without a turn, in frames that both wires have."""


@pytest.mark.parametrize("recording", OTHERS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recording_of_another_wire_is_refused_by_the_name_of_that_wire(
    recording: Path, capsys: Captured
) -> None:
    assert main(["replay", str(recording), "--dialect", "session-agent"]) == 0
    capsys.readouterr()
    if recording.stem not in EQUAL:
        assert main(["replay", str(recording)]) == 1
        assert capsys.readouterr() == (
            "",
            f"turnwire: {recording}: has no turn of the wire v2; try --dialect session-agent\n",
        )


def test_a_recording_of_v2_is_refused_as_one_of_another_wire(capsys: Captured) -> None:
    recording = GOLDEN / "text.jsonl"

    assert main(["replay", str(recording), "--dialect", "session-agent"]) == 1
    assert capsys.readouterr() == (
        "",
        f"turnwire: {recording}: has no turn of the wire session-agent; try --dialect v2\n",
    )


@pytest.mark.parametrize(
    "frames",
    [
        '{"type":"error","error":"no"}\n{"type":"user.joined"}\n',
        (GOLDEN.parent / "session-agent-R/failed_before.jsonl").read_text(),
    ],
    ids=["an error of all", "a turn that failed before"],
)
def test_the_wire_that_is_named_is_taken_where_no_wire_finds_a_turn(
    frames: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The stream ends by `v2` with the error, and the other wire reads on to the end."""
    file = tmp_path / "error.jsonl"
    file.write_text(frames)

    assert main(["replay", str(file)]) == 1
    assert b"has no turn of the wire v2; try --dialect" in capfdbinary.readouterr().err
    assert main(["replay", str(file), "--dialect", "v2"]) == 0
    out, err = capfdbinary.readouterr()
    assert out.endswith(b"data: [DONE]\n\n")
    assert err == b""


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# A page\n\nwith text\n",
        '{\n  "name": "turnwire"\n}\n',
        '{"level":"info"}\n',
        '{"type":"of.a.log"}\n',
    ],
    ids=["empty", "a page", "JSON", "a log", "a log with types"],
)
def test_a_file_that_is_no_recording_is_refused(
    content: str, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "wrong"
    file.write_text(content)

    assert main(["replay", str(file)]) == 1
    assert capsys.readouterr() == (
        "",
        f"turnwire: {file}: is no recording: it has no frame of the wire v2\n",
    )


def test_a_recorded_stream_without_a_frame_is_replayed(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its agent was never reached: the gateway recorded that."""
    file = tmp_path / "unreachable.jsonl"
    header = {"dialect": "v2", "mode": "prompt", "promptId": "p1", "limits": {}}
    file.write_text(f"#! stream {json.dumps(header)}\n#! unreachable\n")

    assert main(["replay", str(file)]) == 0
    assert b"Connection failed" in capfdbinary.readouterr().out


def test_inputs_alone_are_a_recording(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "silence.jsonl"
    file.write_text("#! after 121\n")

    assert main(["replay", str(file)]) == 0
    assert b"Agent stopped responding" in capfdbinary.readouterr().out


BODY = GOLDEN.parent / "ag-ui" / "langgraph-tool.body"


def test_the_body_of_an_agents_response_is_a_recording(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """As `curl -N … > run.sse` writes it."""
    file = tmp_path / "run.sse"
    file.write_bytes(BODY.read_bytes())

    assert main(["replay", str(file), "--dialect", "ag-ui"]) == 0
    assert capfdbinary.readouterr() == (BODY.with_suffix(".sse").read_bytes(), b"")


def test_the_body_of_an_agents_response_is_refused_by_the_name_of_its_wire(
    tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "run.sse"
    file.write_bytes(BODY.read_bytes())

    assert main(["replay", str(file)]) == 1
    assert capsys.readouterr() == (
        "",
        f"turnwire: {file}: has no turn of the wire v2; try --dialect ag-ui\n",
    )


def test_a_dialect_of_others_is_named(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Plugs(tmp_path, monkeypatch).dialect()
    file = tmp_path / "told.jsonl"
    file.write_text('{"hello": 1}\n')

    assert main(["replay", str(file), "--dialect", place]) == 0
    assert '\\"hello\\"' in capsys.readouterr().out


def test_a_recording_names_a_dialect_of_others_if_it_is_installed(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugs = Plugs(tmp_path, monkeypatch)
    place = plugs.dialect()
    file = tmp_path / "told.jsonl"
    header = {"dialect": "plugged", "mode": "prompt", "promptId": "p1", "limits": {}}
    file.write_text(f"#! stream {json.dumps(header)}\n#! opened\n" + '{"hello": 1}\n')

    assert main(["replay", str(file)]) == 1
    assert capsys.readouterr().err == (
        f"turnwire: {file}: cannot replay its dialect: no dialect 'plugged' is installed; "
        "name another with --dialect\n"
    )
    assert main(["replay", str(file), "--dialect", place]) == 0

    plugs.package("acme", plugged=place)

    assert main(["replay", str(file)]) == 0
    assert '\\"hello\\"' in capsys.readouterr().out
