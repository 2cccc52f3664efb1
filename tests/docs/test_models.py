from typing import get_args

import pytest

from turnwire_agent.llm.events import Event
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import ShapeName
from turnwire_agent.llm.shapes import SHAPES
from turnwire_agent.llm.transcript import Assistant, Results, User
from turnwire_lab.docs.runtime.answers import rows
from turnwire_lab.docs.runtime.becomes import survival
from turnwire_lab.docs.runtime.samples import PARTS


@pytest.mark.parametrize("shape", SHAPES)
def test_the_answer_of_each_page_is_a_whole_one(shape: ShapeName) -> None:
    *_, (_, last) = rows(shape)

    assert "`Finish(reason='tool-calls'" in last


def test_each_event_stands_on_a_page() -> None:
    told = "".join(events for shape in SHAPES for _, events in rows(shape))

    assert {kind.__name__ for kind in get_args(Event) if f"`{kind.__name__}(" not in told} == {
        Fault.__name__
    }


def test_each_kind_of_part_stands_on_each_page() -> None:
    kinds = {type(message) for _, transcript in PARTS for message in transcript}
    parts = {
        type(part).__name__
        for _, transcript in PARTS
        for message in transcript
        if not isinstance(message, Results)
        for part in message.parts
    }

    assert kinds == {User, Assistant, Results}
    assert parts == {"Text", "Image", "File", "Reasoning", "Call"}


def test_an_answer_goes_back_whole_to_its_own_wire_alone() -> None:
    for made_by, asked, told in survival():
        assert told.startswith("the answer, byte for byte") == (made_by == asked)
