"""Whatever the root of a schema is, it is sent as one object."""

from typing import Any

import pytest

from runtime.tools.schema_words import TEXT, WHOLE, of
from runtime.tools.schemas import ADDRESS
from turnwire_agent.tools.schema.document import Document
from turnwire_agent.tools.schema.form import BadSchemaError
from turnwire_agent.tools.schema.root import as_object

A = of({"a": TEXT, "id": TEXT}, "a", "id")
B = of({"b": TEXT, "id": WHOLE}, "b", "id")
BOTH = {"a": TEXT, "id": {"anyOf": [TEXT, WHOLE]}, "b": TEXT}


@pytest.mark.parametrize(
    ("written", "root"),
    [
        ({}, {"type": "object"}),
        ({"type": ["object", "null"]}, {"type": "object"}),
        ({"$ref": "#/$defs/A", "$defs": {"A": ADDRESS}}, ADDRESS),
        (
            {"$ref": "#/$defs/A", "$defs": {"A": ADDRESS}, "description": "D"},
            {**ADDRESS, "description": "D"},
        ),
        ({"anyOf": [ADDRESS, {"type": "null"}]}, ADDRESS),
        ({"oneOf": [ADDRESS, {"type": "null"}]}, ADDRESS),
        ({"anyOf": [{"oneOf": [{"$ref": "#/$defs/A"}]}], "$defs": {"A": ADDRESS}}, ADDRESS),
        ({"allOf": [A, of({"b": TEXT}, "b")]}, of({**A["properties"], "b": TEXT}, "a", "id", "b")),
        (
            {"anyOf": [A, B]},
            {"anyOf": [A, B], "type": "object", "properties": BOTH, "required": ["id"]},
        ),
        (
            {"oneOf": [A, {"$ref": "#/$defs/B"}], "$defs": {"B": B}, **of({"c": TEXT}, "c")},
            {
                "oneOf": [A, {"$ref": "#/$defs/B"}],
                "type": "object",
                "properties": {"c": TEXT, **BOTH},
                "required": ["c", "id"],
            },
        ),
        (
            {"allOf": [A, B]},
            {"allOf": [A, B], "type": "object", "properties": BOTH, "required": ["a", "b", "id"]},
        ),
        (
            {"type": "object", "anyOf": [A, {"required": ["c"]}]},
            {
                "type": "object",
                "anyOf": [A, {"required": ["c"]}],
                "properties": A["properties"],
                "required": [],
            },
        ),
    ],
)
def test_the_root_is_an_object_with_all_that_its_branches_have(written: Any, root: Any) -> None:
    assert as_object(Document(written)) == root


@pytest.mark.parametrize(
    "written",
    [TEXT, {"type": ["string", "null"]}, {"anyOf": [TEXT, WHOLE]}, {"const": 1}, {"items": TEXT}],
)
def test_what_is_no_object_is_refused(written: Any) -> None:
    with pytest.raises(BadSchemaError, match="the arguments of a tool are an object"):
        as_object(Document(written))
