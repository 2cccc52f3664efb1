"""What each provider takes of JSON Schema, as data. One walker reads it (`schema.walk`).

Sources: the converters of the official SDKs, vendors' pages and reports of refused requests, as of
2026-11. A provider changes its mind without notice: change the table, not the walker.
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

Shape = Literal["chat", "responses", "messages", "google"]
"""The four request shapes: OpenAI's Chat Completions and Responses, Anthropic's Messages, and
Google's `streamGenerateContent`."""

DESCRIBED: Final = frozenset(
    {"contentEncoding", "contentMediaType", "default", "deprecated", "examples"}
)
"""Keywords that allow and refuse nothing, but tell a reader something. Where a provider does not
take one, its value goes into the description, and nothing is lost."""
TEXTS: Final = frozenset({"description", "title"})
_STRUCTURE: Final = frozenset({"$ref", "additionalProperties", "items", "properties", "required"})
_VALUES: Final = frozenset({"const", "enum", "type"})
_NUMBERS: Final = frozenset(
    {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"}
)
_COUNTS: Final = frozenset({"maxItems", "minItems"})
_STRINGS: Final = frozenset({"format", "maxLength", "minLength", "pattern"})
_UNIONS: Final = frozenset({"allOf", "anyOf", "oneOf"})
_OTHERS: Final = frozenset(
    {
        *("contains", "dependentRequired", "dependentSchemas", "else", "if", "maxContains"),
        *("maxProperties", "minContains", "minProperties", "not", "patternProperties"),
        *("prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
        "uniqueItems",
    }
)
CONSTRAINTS: Final = frozenset(
    {*_STRUCTURE, *_VALUES, *_NUMBERS, *_COUNTS, *_STRINGS, *_UNIONS, *_OTHERS, "dependencies"}
)
"""Keywords that refuse arguments. One that a provider does not take is a loss."""
KNOWN: Final = CONSTRAINTS | DESCRIBED | TEXTS
"""All that is read. Any other keyword neither refuses nor says anything, and is left out."""

_OPENAI_FORMATS: Final = frozenset(
    {"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uuid"}
)


class Limits(Struct, frozen=True, kw_only=True):
    """Most of a strict schema."""

    properties: int
    depth: int
    """Objects and arrays inside each other, the root among them."""
    enum_values: int
    characters: int
    """Of the names of properties and definitions, and of the values of `enum` and `const`."""


class Rules(Struct, frozen=True, kw_only=True):
    """What one provider takes, in one of its modes."""

    keywords: frozenset[str]
    """Constraints and described keywords that may be sent."""
    root: frozenset[str] = frozenset(
        {"allOf", "anyOf", "const", "enum", "else", "if", "not", "oneOf", "then"}
    )
    """Keywords that may not be sent at the root, whatever is below."""
    formats: frozenset[str] | None = None
    """None: any."""
    look_around: bool = True
    closed: bool = False
    """Each object says `additionalProperties: false`."""
    all_required: bool = False
    """Each property is required, and one that was optional is a union with null."""
    recursive: bool = True
    typed: bool = False
    """Each schema says a type, a value, a union or a reference."""
    items_needed: bool = False
    """Each array says what its items are, if only `{}`."""
    alone: bool = False
    """A union stands alone: no other constraint beside `anyOf`."""
    property_name: str | None = None
    """A pattern of the names of properties. None: any name."""
    enum_types: frozenset[str] = frozenset(
        {"array", "boolean", "integer", "null", "number", "object", "string"}
    )
    """Types of the values of `enum` and `const`."""
    min_items_max: int | None = None
    """Largest `minItems`. None: any."""
    limits: Limits | None = None


class ShapeRules(Struct, frozen=True, kw_only=True):
    """A shape's rules with a guarantee, and without."""

    strict: Rules | None
    """None: the shape has no such thing as a strict tool."""
    strict_unasked: bool
    """Whether a tool is strict wherever it can be, without being asked for it."""
    plain: Rules


_EVERY: Final = CONSTRAINTS - {"dependencies"} | {"default"}

_ANTHROPIC_NAME: Final = r"[a-zA-Z0-9_.-]{1,64}"

_OPENAI: Final = ShapeRules(
    strict=Rules(
        keywords=_STRUCTURE | _VALUES | _NUMBERS | _COUNTS | {"anyOf", "format", "pattern"},
        formats=_OPENAI_FORMATS,
        look_around=False,
        closed=True,
        all_required=True,
        typed=True,
        items_needed=True,
        alone=True,
        limits=Limits(properties=5_000, depth=10, enum_values=1_000, characters=120_000),
    ),
    strict_unasked=True,
    plain=Rules(keywords=_EVERY - {"prefixItems"}, look_around=False, items_needed=True),
)

RULES: Final[Mapping[Shape, ShapeRules]] = {
    "chat": _OPENAI,
    "responses": _OPENAI,
    "messages": ShapeRules(
        strict=Rules(
            keywords=_STRUCTURE | _VALUES | {"anyOf", "format", "minItems"},
            formats=_OPENAI_FORMATS | {"uri"},
            closed=True,
            recursive=False,
            typed=True,
            items_needed=True,
            alone=True,
            enum_types=frozenset({"boolean", "integer", "null", "number", "string"}),
            min_items_max=1,
            property_name=_ANTHROPIC_NAME,
        ),
        # A grammar is compiled for all strict tools of a request together, and is refused when it
        # is large, also below the documented limits. So an operator chooses the few that need it.
        strict_unasked=False,
        plain=Rules(keywords=_EVERY, property_name=_ANTHROPIC_NAME),
    ),
    "google": ShapeRules(
        strict=None,
        strict_unasked=False,
        plain=Rules(
            keywords=_STRUCTURE
            | _COUNTS
            | {"anyOf", "enum", "maximum", "minimum", "prefixItems", "type"},
            formats=frozenset(),
            alone=True,
            enum_types=frozenset({"integer", "number", "string"}),
        ),
    ),
}


class StrictTogether(Struct, frozen=True, kw_only=True):
    """Most of all strict tools of one request together."""

    tools: int
    optional: int
    """Properties that are not required."""
    unions: int
    """Properties that are unions: `anyOf`, or a list of types."""


STRICT_TOGETHER: Final[Mapping[Shape, StrictTogether]] = {
    "messages": StrictTogether(tools=20, optional=24, unions=16)
}
