"""`turnwire drift`: what the samples of drift add up to."""

import sys
from collections import Counter
from pathlib import Path

import msgspec

from turnwire.cli import recording
from turnwire.core.drift import Sample

_sample = msgspec.json.Decoder(Sample).decode


def report(file: Path) -> int:
    """Print each fingerprint once, the latest first. Returns the exit code."""
    try:
        lines = recording.read(file)
    except OSError as exc:
        print(f"turnwire: cannot read {file}: {exc.strerror}", file=sys.stderr)
        return 1
    latest: dict[str, Sample] = {}
    times: Counter[str] = Counter()
    odd = 0
    for line in lines:
        try:
            sample = _sample(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            odd += 1
            continue
        times[sample.fingerprint] += 1
        latest[sample.fingerprint] = max(
            sample, latest.get(sample.fingerprint, sample), key=lambda each: each.at
        )
    for each in sorted(latest.values(), key=lambda each: each.at, reverse=True):
        what = "an unknown type with" if each.kind == "type" else "unknown fields:"
        print(f"{each.fingerprint}  {each.dialect}  {each.type}  {what} {', '.join(each.fields)}")
        print(f"    last new at {each.at}, in {times[each.fingerprint]} process starts")
        print(f"    {msgspec.json.encode(each.structure).decode()}")
    if odd:
        print(f"turnwire: {odd} of {len(lines)} lines are no samples", file=sys.stderr)
    return 0
