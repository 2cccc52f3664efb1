"""What an operator adds to requests is in no recording."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from turnwire.core.recording.operator_fields import OperatorFields
from turnwire.core.recording.recorder import Recording, header
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output

TOKEN = "sesame-4711-0815-open"


def fields(**values: Any) -> OperatorFields:
    return OperatorFields({name: Raw(msgspec.json.encode(value)) for name, value in values.items()})


@pytest.mark.parametrize(
    ("value", "frame", "blotted"),
    [
        (TOKEN, f'{{"token":"{TOKEN}"}}', f'{{"token":"{"x" * len(TOKEN)}"}}'),
        ("a/b/c/d/e", r'["a\/b\/c\/d\/e"]', f'["{"x" * 13}"]'),
        ("en", '{"lang":"en","text":"enter en"}', '{"lang":"xx","text":"enter en"}'),
        ("en", '["a\\"en\\"b"]', '["a\\"en\\"b"]'),
        (17, '{"pin":17,"n":170,"m":0.17,"l":-17}', '{"pin":xx,"n":170,"m":0.17,"l":-17}'),
        ({"a": ["b", {"c": 0.5}]}, '["b",0.5,"a"]', '["x",xxx,"a"]'),
        ([None, True, ""], '[null,true,""]', '[null,true,""]'),
    ],
)
def test_a_value_is_blotted(value: Any, frame: str, blotted: str) -> None:
    assert fields(one=value).blot(frame.encode()).decode() == blotted


def test_without_fields_a_frame_stays() -> None:
    assert fields().blot(b'{"token":""}') == b'{"token":""}'


def test_what_looks_like_a_token_is_one() -> None:
    assert fields(a=TOKEN, b="en", c="a sentence with many words", d=[1]).tokens == [TOKEN.encode()]


def test_a_recording_blots_what_the_agent_was_told() -> None:
    ask = PromptRequest(text="Hi", prompt_id="p1")
    recording = Recording(header(ask, dialect="v2", limits=Limits()), 10_000)
    recording.on_input(Opened(), 0.0)
    recording.on_output(Output(to_agent=[json.dumps(["hi", {"token": TOKEN}]).encode()]), 0.0)

    lines = list(recording.lines(redactor=None, operator_fields=fields(token=TOKEN)))

    assert lines[-1] == b'# told ["hi", {"token": "%b"}]' % (b"x" * len(TOKEN))
