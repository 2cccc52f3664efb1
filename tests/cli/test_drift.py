"""`turnwire drift`: what it shows of a file of samples."""

import json
from pathlib import Path

import pytest

from turnwire.cli import main

pytestmark = pytest.mark.sockets


def test_what_is_no_sample_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = {
        "at": "2026-11-22",
        "dialect": "v2",
        "fingerprint": "f",
        "kind": "field",
        "type": "chunk",
        "fields": ["a:null"],
        "structure": {"type": "string(5)"},
    }
    file = tmp_path / "samples"
    deep = '{"structure":' + "[" * 5_000
    file.write_text(f"{json.dumps(sample)}\nnothing\n{deep}\n{json.dumps(sample)}\n")

    assert main(["drift", str(file)]) == 0
    assert main(["drift", str(tmp_path / "none")]) == 1

    told = capsys.readouterr()
    assert "f  v2  chunk  unknown fields: a:null" in told.out
    assert "in 2 process starts" in told.out
    assert "2 of 4 lines are no samples" in told.err
    assert "cannot read" in told.err
