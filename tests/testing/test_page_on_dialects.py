"""The code that stands on the page about dialects does what the page says of it."""

import json
import re
import textwrap
from pathlib import Path
from typing import Any, Final

from msgspec import Raw

import turnwire.dialect as td
from testing.minimal_suite import MinimalSuite, example
from turnwire.testing.playing import Played

PAGE: Final = (Path(__file__).parents[2] / "docs/write-a-dialect.md").read_text()


def replacing() -> Any:
    """The protocol of the example, with the method of the page, for a text in capital letters."""
    (code,) = re.findall(r"```python\n(def replaced.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {"td": td, "Raw": Raw, "Turn": example.Turn}
    exec("class Replacing(Turn):\n" + textwrap.indent(code, "    "), names)  # noqa: S102 (ours)

    class Replacing(names["Replacing"]):  # type: ignore[misc, valid-type]
        def receive_frame(self, frame: bytes, now: float) -> Any:
            decoded = super().receive_frame(frame, now)
            if isinstance(decoded, str) and decoded.isupper():
                return self.replaced("rhubarb", decoded)
            return decoded

    return Replacing


def test_a_text_that_is_replaced_stands_anew_behind_a_notice() -> None:
    played = Played(replacing()(MinimalSuite().request("p1")))
    frames = [{"type": "say", "text": "rhubarb"}, {"type": "say", "text": "THISTLE"}]
    played.receive([json.dumps(frame).encode() for frame in [*frames, {"type": "done"}]]).close()

    texts = [part["text"] for part in played.client.parts if part["type"] == "text"]
    assert texts == ["rhubarb", "THISTLE"]
    assert b'"type":"data-text-replaced"' in played.written
    assert played.protocol.frame_stats.left_out == {"contradicted text": 1}
    assert played.protocol.frame_stats.left_out_bytes == len("rhubarb")


def test_the_larger_example_stands_on_the_page() -> None:
    text = (
        Path(__file__).parents[2] / "examples/dialects/minimal/several_connections.py"
    ).read_text()

    assert (
        "../examples/dialects/minimal/several_connections.py\n:language: python\n:pyobject: Turn"
        in PAGE
    )
    assert "class Turn(td.OneResponse)" in text
