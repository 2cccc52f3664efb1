"""Whatever is read off a wire has a bound in its type: every decoder is looked at."""

import importlib
import pkgutil
from collections.abc import Iterator

import msgspec
import pytest
from msgspec import inspect

import turnwire
from turnwire.core.bounds import HandedOn, keep

OWN = (
    "turnwire.cli",  # a person's own files
    "turnwire.doctor",
    "turnwire.conform.scenarios",  # what our own core wrote
    "turnwire.core.recording.recorder",
    "turnwire.core.recording.input_lines",
    "turnwire.core.recording.recorded_answers",  # what a recording has, redacted
    "turnwire.core.recording.replay",
    "turnwire.core.recording.drift",  # a copy, looked at and not kept
    "turnwire.web.auth.jwks",  # answers of the operator's own services, of bounded length
    "turnwire.web.auth.control_plane",
    "turnwire.web.auth.identity",  # a header of a request, whose head is bounded
)
"""Modules whose decoders read nothing that somebody else may make long, and is kept."""

WHOLE = {
    "turnwire.core.safe_json": "whoever asks for a string says what becomes of it",
    "turnwire.core.body.prompt": "a prompt's text, whose length is checked",
    "turnwire.core.body.continuation": "an answer of a client, whose length is checked before",
    "turnwire.core.approvals": "what we signed ourselves",
    "turnwire.core.wire.schema": "the places of an envelope are looked at, and nothing is kept",
}
"""Modules whose decoders may be of a bare type, each with its reason."""


def decoders() -> Iterator[tuple[str, inspect.Type]]:
    """Every decoder that a module keeps, and what it decodes."""
    for module in pkgutil.walk_packages(turnwire.__path__, "turnwire."):
        if module.name.endswith("__main__") or module.name.startswith(OWN):
            continue
        for kept in vars(importlib.import_module(module.name)).values():
            decoder = getattr(kept, "__self__", kept)
            if isinstance(decoder, msgspec.json.Decoder):
                yield module.name, inspect.type_info(decoder.type)


def unbounded(kind: inspect.Type, seen: set[type], *, within: str = "") -> Iterator[str]:
    """The strings and lists in a type that may be of any length, and are not handed on at once."""
    match kind:
        case inspect.Metadata(type=inner, extra=extra):
            if extra != {"kept": False}:
                yield from unbounded(inner, seen, within=within)
        case inspect.StrType(max_length=None) | inspect.ListType(max_length=None):
            yield within
        case inspect.ListType(item_type=inner):
            yield from unbounded(inner, seen, within=within)
        case inspect.DictType(max_length=None):
            yield within
        case inspect.UnionType(types=types):
            for each in types:
                yield from unbounded(each, seen, within=within)
        case inspect.StructType(cls=cls, fields=fields) if cls not in seen:
            seen.add(cls)
            for field in fields:
                yield from unbounded(field.type, seen, within=f"{cls.__qualname__}.{field.name}")


def test_there_are_decoders_of_all_wires() -> None:
    modules = {module for module, _ in decoders()}

    assert {
        "turnwire.dialects.v2.frames",
        "turnwire.dialects.v2.init",
        "turnwire.dialects.session_agent.frames",
        "turnwire.core.body.prompt",
        "turnwire.core.body.continuation",
    } <= modules


def test_nothing_that_is_kept_of_a_wire_is_without_a_bound() -> None:
    found = {
        f"{module}: {where or 'a bare type'}"
        for module, kind in decoders()
        for where in unbounded(kind, set())
        if where or module not in WHOLE
    }

    assert sorted(found) == []


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (str, [""]),
        (HandedOn, []),
        (list[HandedOn], [""]),
        (msgspec.defstruct("Frame", [("id", str), ("text", HandedOn)]), ["Frame.id"]),
    ],
)
def test_a_string_without_a_bound_is_found(kind: type, names: list[str]) -> None:
    assert list(unbounded(inspect.type_info(kind), set())) == names


def test_the_oldest_entry_is_forgotten() -> None:
    entries: dict[str, int] = {}

    for number, key in enumerate("abcb"):
        keep(entries, key, number, 2)

    assert entries == {"b": 3, "c": 2}
