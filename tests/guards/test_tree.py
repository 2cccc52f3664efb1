"""The tests of a room stand in a folder of its name, and use what is theirs or shared."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parents[1]
SOURCE: Final = TESTS.parent / "src/turnwire"
ROOMS: Final = (
    *("bridge", "cli", "config", "conform", "core", "dialect", "dialects", "doctor", "relay"),
    *("testing", "web"),
)
SHARED: Final = {"gateway", "support"}
"""Folders of `tests` that every test may use."""
MIRRORED: Final = (
    *("cli", "config", "core", "core/body", "core/recording", "core/turn", "core/ui_stream"),
    *(
        "core/turn_log",
        "core/wire",
        "dialect",
        "dialects",
        "dialects/ag_ui",
        "dialects/ag_ui/content",
    ),
    *(
        "dialects/openai_chat",
        "dialects/openai_responses",
        "dialects/session_agent",
        "dialects/ui_stream",
        "dialects/acp",
    ),
    *("dialects/session_agent/binding", "dialects/v2", "doctor"),
    *("relay", "relay/agent", "relay/agent/http", "relay/turn_log"),
    *("web", "web/auth", "web/observe", "web/routes", "web/server"),
)
"""Rooms in which each module has a test of its name."""
WITHOUT_A_TEST: Final = {
    "config/values.py": "types alone, whose bounds test_settings.py finds in each setting",
    "core/agent.py": "the ports of a wire",
    "core/body/conversation.py": "structs alone, which test_conversion.py and the dialects compare",
    "core/events.py": "structs alone, which every test of a dialect and of a stream compares",
    "core/operations.py": "structs and the protocol of an operation",
    "core/output.py": "a protocol, no code",
    "core/rejection.py": "an enum",
    "core/requests.py": "structs alone, which each test of a dialect makes",
    "core/turn/output.py": "a struct, which every test of a turn compares",
    "core/ui_stream/chunks.py": "structs alone, whose bytes are the transcripts in tests/golden",
    "relay/agent/failures.py": "enums of labels, and an exception that carries one of them",
    "relay/turn_stream.py": "the I/O of a stream, which test_turns.py and its neighbours prove",
    "web/app.py": "it puts the application together, which every test over sockets starts",
    "web/routes/openapi_schemas.py": "data, which test_openapi.py compares with what is answered",
    "web/routes/stream_log.py": "one line a stream: its fields in cli/test_serving.py, its counters"
    " in test_metrics.py",
    "web/routes/stream_response.py": "it joins a route and a stream: each test of a turn is its",
}
"""Modules of those rooms without one, and why. A package's `__init__` is its package's concern."""
OF_THE_LAB: Final = ("turnwire_lab.agents.", "turnwire_lab.process")
"""What tests of the other rooms may use of the lab: agents to talk to, processes and free ports."""
WITHOUT_LAB: Final = (
    *("config", "core", "dialect", "dialects", "relay/agent", "support", "web/server"),
)
"""Rooms that use nothing of the lab: what it takes for right proves nothing of the gateway."""


def rooms_with_tests() -> list[Path]:
    """Every folder of tests of a room of the product."""
    return [
        folder.relative_to(TESTS)
        for room in ROOMS
        for folder in (TESTS / room, *(TESTS / room).rglob("*"))
        if folder.is_dir() and any(folder.glob("test_*.py"))
    ]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("folder", rooms_with_tests(), ids=str)
def test_a_folder_of_tests_is_a_room_of_the_source(folder: Path) -> None:
    assert (SOURCE / folder).is_dir()


def test_every_room_has_a_folder_of_tests() -> None:
    rooms = {path.parent.relative_to(SOURCE) for path in SOURCE.rglob("*.py")} - {Path()}

    assert rooms == set(rooms_with_tests())


@pytest.mark.parametrize("room", MIRRORED)
def test_each_module_has_a_test_of_its_name(room: str) -> None:
    modules = {path.name for path in (SOURCE / room).glob("*.py")} - {"__init__.py"}
    tests = {path.name.removeprefix("test_") for path in (TESTS / room).glob("test_*.py")}
    without = {f"{room}/{name}" for name in modules - tests}

    assert without == {path for path in WITHOUT_A_TEST if path.rpartition("/")[0] == room}


def test_nobody_uses_what_belongs_to_the_tests_of_another_room() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir()} - SHARED
    found = [
        f"{path.relative_to(TESTS)} uses {module}"
        for room in ROOMS
        for path in (TESTS / room).rglob("*.py")
        for module in imported(path)
        if module.partition(".")[0] in folders - {room}
    ]

    assert found == []


def test_no_test_uses_another_test() -> None:
    """What two of them share stands in a module of their room, or in one of `SHARED`."""
    found = [
        f"{path.relative_to(TESTS)} uses {module}"
        for room in (*ROOMS, *SHARED, "attacks", "client_python")
        for path in (TESTS / room).rglob("*.py")
        for module in imported(path)
        if module.rpartition(".")[2].startswith("test_")
    ]

    assert found == []


def test_what_is_shared_uses_nothing_of_a_room() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir()} - SHARED
    found = [
        f"{path.relative_to(TESTS)} uses {module}"
        for path in (TESTS / "support").glob("*.py")
        for module in imported(path)
        if module.partition(".")[0] in folders
    ]

    assert found == []


@pytest.mark.parametrize("folder", WITHOUT_LAB)
def test_the_gateway_is_proved_without_its_lab(folder: str) -> None:
    assert of_the_lab(folder) == []


@pytest.mark.parametrize("folder", [*ROOMS, *sorted(SHARED)])
def test_of_the_lab_a_test_uses_processes_and_peers_alone(folder: str) -> None:
    assert [use for use in of_the_lab(folder) if not use[1].startswith(OF_THE_LAB)] == []


def of_the_lab(folder: str) -> list[tuple[str, str]]:
    """Each module of the lab that a test of this folder uses, with the test."""
    return [
        (str(path.relative_to(TESTS)), module)
        for path in (TESTS / folder).rglob("*.py")
        for module in imported(path)
        if module.partition(".")[0] == "turnwire_lab"
    ]
