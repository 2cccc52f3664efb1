"""What differs from run to run in a recording, replaced: ids, times, paths, order of results."""

import re
from pathlib import Path
from typing import Final

ROOT: Final = str(Path(__file__).parents[2])
_UUID: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_HEX: Final = re.compile(r"\b[0-9a-f]{32}\b")
_UNIX: Final = re.compile(r"\b1[789]\d{8}(\d{3})?\b")
"""Seconds or milliseconds, from 2023 to 2033."""
_ISO: Final = re.compile(r"\b20\d\d-\d\d-\d\d([T ])\d\d:\d\d:\d\d")
_FRACTION: Final = re.compile(r"\b\d+\.\d{4,}(e-\d+)?\b")
"""How long something took."""
_RESULTS: Final = re.compile(r"(?:data: \{\"type\":\"TOOL_CALL_RESULT\".*\n\n){2,}")
_CALL: Final = re.compile(r'"toolCallId":"([^"]*)"')


def results_in_order(body: str) -> str:
    """Sort results that follow each other by their calls: tools run at once, each in a thread."""
    return _RESULTS.sub(lambda found: _sorted(found[0]), body)


def _sorted(results: str) -> str:
    frames = results.removesuffix("\n\n").split("\n\n")
    return "".join(f"{each}\n\n" for each in sorted(frames, key=_CALL.findall))


class Normal:
    """The same id becomes the same other id, in all texts that one of these has seen."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def text(self, text: str) -> str:
        text = _UUID.sub(lambda found: self._id(found[0], dashed=True), text)
        text = _HEX.sub(lambda found: self._id(found[0], dashed=False), text)
        text = _UNIX.sub(lambda found: "1700000000" + "0" * len(found[1] or ""), text)
        text = _ISO.sub(r"2025-01-01\g<1>00:00:00", text)
        text = _FRACTION.sub("0.0", text)
        return text.replace(ROOT, "/srv/project")

    def _id(self, found: str, *, dashed: bool) -> str:
        if found.endswith("-0000-4000-8000-000000000000") or found.startswith("0" * 20):
            return found
        number = len(self._ids) + 1
        made = f"{number:08x}-0000-4000-8000-000000000000" if dashed else f"{number:032x}"
        return self._ids.setdefault(found, made)
