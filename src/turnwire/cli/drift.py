"""`turnwire drift`: summarise the samples file (`TURNWIRE_DRIFT_SAMPLES`)."""

import sys
from collections import Counter
from pathlib import Path

import msgspec

from turnwire.cli import recordings
from turnwire.core.recording.drift import Sample

_decode_sample = msgspec.json.Decoder(Sample).decode


def report(file: Path) -> int:
    """Print each fingerprint once, the one with the latest sample first. Returns the exit code."""
    try:
        lines = recordings.read(file)
    except OSError as exc:
        print(f"turnwire: cannot read {file}: {exc.strerror}", file=sys.stderr)
        return 1
    latest: dict[str, Sample] = {}
    counts: Counter[str] = Counter()
    odd_count = 0
    for line in lines:
        try:
            sample = _decode_sample(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            odd_count += 1
            continue
        counts[sample.fingerprint] += 1
        latest[sample.fingerprint] = max(
            sample, latest.get(sample.fingerprint, sample), key=lambda sample: sample.at
        )
    for last in sorted(latest.values(), key=lambda last: last.at, reverse=True):
        kind = "an unknown type with" if last.kind == "type" else "unknown fields:"
        print(f"{last.fingerprint}  {last.dialect}  {last.type}  {kind} {', '.join(last.fields)}")
        print(f"    last new at {last.at}, in {counts[last.fingerprint]} process starts")
        print(f"    {msgspec.json.encode(last.structure).decode()}")
    if odd_count:
        print(f"turnwire: {odd_count} of {len(lines)} lines are no samples", file=sys.stderr)
    return 0
