"""The reference of `turnwire.dialect` has each of its names once, with its docstrings."""

import re
from pathlib import Path
from types import FunctionType
from typing import Final

from turnwire import dialect

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs/dialect-api.md").read_text()


def parts() -> dict[str, str]:
    """The text below each name."""
    found = re.split(r"^#{2,3} (.+)$", PAGE, flags=re.MULTILINE)[1:]
    texts = zip(found[::2], found[1::2], strict=True)
    return {name.strip("`"): text for name, text in texts if name.startswith("`")}


def test_each_name_stands_there_once() -> None:
    assert sorted(parts()) == sorted(dialect.__all__)
    assert all(PAGE.count(f"\n### `{name}`\n") == 1 for name in dialect.__all__)


def test_every_class_and_every_function_says_what_it_is() -> None:
    silent = [
        name
        for name, text in parts().items()
        if isinstance(getattr(dialect, name), type | FunctionType)
        and not re.search(r"^[A-Z][^`\n]*[a-z]{3}.*[.:]$", text, re.MULTILINE)
    ]

    assert set(silent) <= {"Text", "Reasoning", "File", "UserMessage", "SystemMessage", "Channel"}


def test_fields_members_constants_and_methods_have_their_docstrings() -> None:
    of = parts()

    assert "- `turn_id: str`" in of["TurnStarted"]
    assert "- `USAGE`: The agent counts the tokens of a turn.\n" in of["Feature"]
    assert "- `deadline: float`: When to call `tick`, in seconds" in of["AgentProtocol"]
    assert "- `prompt(request: PromptRequest, " in of["Dialect"]
    assert "`Decoded()`\n\nA sign of life of our turn, and nothing to show.\n" in of["ALIVE"]
    assert "A subclass of `AgentRequest`." in of["PromptRequest"]
    assert "- `(turn_id: str)`: " in of["OneResponse"]
    assert "\n- `_" not in PAGE


def test_a_struct_stands_with_its_arguments_and_those_that_are_given_by_name() -> None:
    text = PAGE

    assert "\n`TextDelta(text)`\n" in text
    assert "\n`Approval(call_id, tool_name, args=…)`\n" in text
    assert "\n`TurnFinished(*, reason, final_text=…, error=…, usage=…, cut_short=…, " in text
    assert "\n`FrameStats(" not in text
