"""A new member of a union or of an enum is placed on purpose, wherever the code decides by it.

mypy names those places, but only if the `match` ends in `assert_never`: a wildcard with another
body would take the new member silently. So would a pattern of a base class, and a table of an
enum that is read with a default.
"""

import ast
import enum
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, get_args

import pytest

import turnwire
from turnwire.core.events import Event
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.dialects.acp.frames import Update as AcpUpdate
from turnwire.dialects.ag_ui.frames import Read as AgUiFrame
from turnwire.dialects.openai_chat.frames import Read as OpenAiChatFrame
from turnwire.dialects.openai_responses.frames import Read as OpenAiResponsesFrame
from turnwire.dialects.session_agent.frames import Read as SessionAgentFrame
from turnwire.dialects.ui_stream.frames import Read as UiStreamFrame
from turnwire.dialects.v2.frames import Read as V2Frame

_ROOT: Final = Path(str(turnwire.__file__)).parent
_FILES: Final = sorted(
    path.relative_to(_ROOT)
    for path in _ROOT.rglob("*.py")
    if path.name not in {"__init__.py", "__main__.py"}
)
_MEMBERS: Final = {
    "events": get_args(Event),
    "chunks": get_args(Chunk),
    "frames of v2": get_args(V2Frame),
    "frames of session-agent": get_args(SessionAgentFrame),
    "frames of ag-ui": get_args(AgUiFrame),
    "frames of ui-stream": get_args(UiStreamFrame),
    "frames of openai-chat": get_args(OpenAiChatFrame),
    "frames of openai-responses": get_args(OpenAiResponsesFrame),
    "updates of acp": get_args(AcpUpdate),
}

_IN_ONE_PLACE: Final = {
    *("frames of openai-chat", "frames of openai-responses", "frames of ui-stream"),
    "updates of acp",
}

_PARTIAL_TABLES: Final = {Path("doctor/proxies.py")}
"""Whose keys are some of the members, on purpose: most findings have no line of a proxy."""


def _module(file: Path) -> ModuleType:
    return importlib.import_module(".".join(("turnwire", *file.with_suffix("").parts)))


def _tree(file: Path) -> ast.Module:
    return ast.parse((_ROOT / file).read_text())


def _meaning(node: ast.AST, module: ModuleType) -> Any:
    """What a dotted name means in its module; None if that is not known before the code runs."""
    match node:
        case ast.Name(id=name):
            return getattr(module, name, None)
        case ast.Attribute(value=holder, attr=name):
            return getattr(_meaning(holder, module), name, None)
        case _:
            return None


def _patterns(matches: ast.Match, module: ModuleType) -> list[type]:
    """Our classes by which a `match` decides: those of class patterns, and enums of values."""
    kinds: list[type] = []
    for case in matches.cases:
        for node in ast.walk(case.pattern):
            if isinstance(node, ast.MatchClass):
                kinds.append(_meaning(node.cls, module))
            elif isinstance(node, ast.MatchValue):
                kinds.append(type(_meaning(node.value, module)))
    return [kind for kind in kinds if _is_ours(kind)]


def _is_ours(kind: object) -> bool:
    return isinstance(kind, type) and kind.__module__.startswith("turnwire.")


def _matches(file: Path) -> Iterator[tuple[ast.Match, list[type]]]:
    """Every `match` over classes or enums of ours."""
    module = _module(file)
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Match) and (kinds := _patterns(node, module)):
            yield node, kinds


def _is_closed(matches: ast.Match) -> bool:
    """Whether the last case is `case _: assert_never(…)`, of the subject itself."""
    last = matches.cases[-1]
    expected = ast.Call(ast.Name("assert_never", ast.Load()), [matches.subject], [])
    body = ast.dump(ast.Module(last.body, []))
    is_wildcard = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    is_any = is_wildcard and last.guard is None
    return is_any and body == ast.dump(ast.Module([ast.Expr(expected)], []))


def _tables(file: Path) -> Iterator[tuple[ast.Dict, type[enum.Enum]]]:
    """Every dict whose keys are the members of one enum of ours, with that enum."""
    module = _module(file)
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Dict) and file not in _PARTIAL_TABLES:
            kinds = {type(_meaning(key, module)) for key in node.keys if key is not None}
            kind = kinds.pop() if len(kinds) == 1 and None not in node.keys else None
            if kind is not None and issubclass(kind, enum.Enum) and _is_ours(kind):
                yield node, kind


def test_every_match_is_exhaustive() -> None:
    open_matches = [
        f"{file}:{node.lineno}"
        for file in _FILES
        for node, _ in _matches(file)
        if not _is_closed(node)
    ]

    assert open_matches == [], "a `match` over a union or an enum ends in `assert_never`"


def test_no_pattern_takes_the_members_to_come() -> None:
    members = {kind for kinds in _MEMBERS.values() for kind in kinds}
    bases = [
        f"{file}:{node.lineno}: {kind.__name__}"
        for file in _FILES
        for node, kinds in _matches(file)
        for kind in kinds
        if kind.__subclasses__() and kind not in members
    ]

    assert bases == [], "a `match` names the members of a union, and not a base that they share"


def test_every_table_of_an_enum_is_complete() -> None:
    lacking: dict[str, list[str]] = {}
    for file in _FILES:
        for table, kind in _tables(file):
            keys = {_meaning(key, _module(file)) for key in table.keys if key is not None}
            lacking[f"{file}:{table.lineno}"] = [one.name for one in kind if one not in keys]

    assert len(lacking) >= 5
    assert {place: names for place, names in lacking.items() if names} == {}


@pytest.mark.parametrize("union", _MEMBERS)
def test_the_unions_are_decided_by(union: str) -> None:
    """Else the tests above would be green for another reason."""
    members = set(_MEMBERS[union])
    deciding = [file for file in _FILES for _, kinds in _matches(file) if members & set(kinds)]

    # A wire whose calls are kept elsewhere decides in one place what a frame tells.
    assert len(deciding) >= (1 if union in _IN_ONE_PLACE else 3)
