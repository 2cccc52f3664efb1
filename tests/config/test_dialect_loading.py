"""A dialect is found by its name, whoever wrote it; a bad one is refused in one line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.given import GOOD, problems
from support.plugged import CODE, Plugs
from turnwire.config.dialect_loading import BadDialectError, find, find_installed, load
from turnwire.config.environ import from_environ
from turnwire.dialects import DIALECTS


@pytest.fixture
def plugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugs]:
    yield Plugs(tmp_path, monkeypatch)
    monkeypatch.undo()
    Plugs.forget()


def refusal(name: str) -> str:
    with pytest.raises(BadDialectError) as refused:
        load(name)
    text = str(refused.value)
    assert "\n" not in text
    return text


def test_our_own_ones_come_first() -> None:
    assert all(find(name) is dialect is load(name) for name, dialect in DIALECTS.items())


@pytest.mark.parametrize("kind", ["Plugged", "plugged"], ids=["class", "instance"])
def test_a_place_names_a_class_or_an_instance(plugs: Plugs, kind: str) -> None:
    place = plugs.dialect(kind=kind)

    assert load(place).name == "plugged"
    assert find(place) is load(place), "one instance for the whole process"


def test_a_place_may_be_inside_of_a_class(plugs: Plugs) -> None:
    place = plugs.dialect("class Inner: pass") + ".Inner"

    assert "`name` is missing" in refusal(place)


def test_an_entry_point_is_found_by_its_name(plugs: Plugs) -> None:
    plugs.package("acme", plugged=plugs.dialect())

    assert load("plugged").name == find_installed("plugged").name == "plugged"


def test_the_settings_of_a_dialect_of_others(plugs: Plugs) -> None:
    place = plugs.dialect("idle_s = 7")
    given = {"TURNWIRE_AGENT_URL": "http://127.0.0.1/", "TURNWIRE_DIALECT": place}

    assert from_environ(GOOD | given).dialect == place
    assert "\n".join(problems(dialect=place)) == (
        "TURNWIRE_AGENT_URL: must start with http:// or https://, not wss://, "
        f"for TURNWIRE_DIALECT={place}"
    )


def test_a_bad_dialect_is_one_problem_of_the_settings() -> None:
    (problem,) = problems(dialect="v3", agent_url="http://127.0.0.1/", agent_model="m")

    assert problem.startswith("TURNWIRE_DIALECT: must be one of v2, session-agent, ")
    assert problem.endswith(", or package.module:Name of another dialect")


def test_a_name_that_nobody_has_names_those_that_there_are(plugs: Plugs) -> None:
    plugs.package("acme", plugged=plugs.dialect())

    assert ", plugged, or package.module:Name" in refusal("pluged")
    assert refusal("pluged").endswith("; did you mean plugged?")
    assert refusal("AG_UI").endswith("; did you mean ag-ui?")
    assert refusal("zebra").endswith("of another dialect")


def test_a_module_that_is_not_there() -> None:
    place = "of_nobody.at_all:Name"

    assert refusal(place) == (f"{place}: no module of_nobody: is it installed, or on PYTHONPATH?")


def test_a_module_that_needs_another_one(plugs: Plugs) -> None:
    place = plugs.module("import of_nobody\n") + ":Name"

    text = refusal(place)

    module = place.partition(":")[0]
    assert text == (
        f"{place} cannot be imported: ModuleNotFoundError at {module}.py:1: "
        "No module named 'of_nobody'"
    )


def test_a_module_without_that_name(plugs: Plugs) -> None:
    place = plugs.dialect(kind="Pluged")

    assert refusal(place) == f"{place}: the module has no Pluged"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise SystemExit(3)", "SystemExit at {}.py:1"),
        ("raise ValueError('hunter2\\nx')", "ValueError at {}.py:1"),
        ("def f(:", "SyntaxError at "),
        ("undefined", "NameError at {}.py:1: name 'undefined' is not defined"),
        ("from turnwire.dialect import No", "ImportError at {}.py:1: cannot import name 'No'"),
    ],
)
def test_a_module_that_raises(plugs: Plugs, code: str, told: str) -> None:
    module = plugs.module(code)

    text = refusal(f"{module}:Name")

    assert text.startswith(f"{module}:Name cannot be imported: {told.format(module)}")
    assert "hunter2" not in text


def test_a_class_that_wants_arguments_or_raises(plugs: Plugs) -> None:
    code = CODE.replace("{more}", "def __init__(self, url): pass")
    place = plugs.module(code.replace("plugged = Plugged()", "")) + ":Plugged"

    assert refusal(place).startswith(
        f"{place}: a dialect is an instance, or a class without arguments: TypeError at "
    )


def test_a_class_that_ends_the_process(plugs: Plugs) -> None:
    code = CODE.replace("{more}", "def __init__(self): raise SystemExit('hunter2')")
    place = plugs.module(code.replace("plugged = Plugged()", "")) + ":Plugged"

    assert refusal(place).startswith(f"{place}: a dialect is an instance, or a class")
    assert "hunter2" not in refusal(place)


def test_a_module_whose_names_raise(plugs: Plugs) -> None:
    module = plugs.module("def __getattr__(name): return 1 / 0")

    assert refusal(f"{module}:Name").startswith(f"{module}:Name cannot be imported: ZeroDivision")


def test_a_version_of_the_surface_that_raises(plugs: Plugs) -> None:
    place = plugs.dialect("surface = property(lambda self: 1 / 0)").replace("Plugged", "plugged")

    assert refusal(place).startswith(f"{place} is no dialect: ZeroDivisionError at ")


def test_what_is_no_dialect(plugs: Plugs) -> None:
    place = plugs.dialect("transport = 5")

    assert refusal(place) == f"{place} is no dialect: `transport` must be a str"


def test_a_property_that_raises(plugs: Plugs) -> None:
    place = plugs.dialect("idle_s = property(lambda self: 1 / 0)")

    assert refusal(place).startswith(f"{place} is no dialect: ZeroDivisionError at ")


def test_a_transport_that_is_none(plugs: Plugs) -> None:
    place = plugs.dialect("transport = 'pigeon'")

    assert refusal(place) == f"{place}: `transport` must be one of websocket, http"


@pytest.mark.parametrize("name", ["", "A", "a b", "x" * 65, "-a", "a\n"])
def test_a_name_that_no_log_should_have(plugs: Plugs, name: str) -> None:
    place = plugs.dialect(f"name = {name!r}")

    assert "`name` must have a-z, 0-9 and - alone" in refusal(place)


def test_a_name_of_ours(plugs: Plugs) -> None:
    place = plugs.dialect("name = 'v2'")

    assert refusal(place) == f"{place}: 'v2' is the name of a wire of the gateway"


def test_another_version_of_the_surface(plugs: Plugs) -> None:
    assert load(plugs.dialect("surface = '1'")).name == "plugged"
    place = plugs.dialect("surface = '2'")

    assert refusal(place) == f"{place} is written for turnwire.dialect '2', and this is '1'"


def test_another_version_is_told_before_what_is_missing(plugs: Plugs) -> None:
    assert "written for" in refusal(plugs.dialect("surface = '0'\n    transport = None"))


def test_an_entry_point_of_another_name(plugs: Plugs) -> None:
    place = plugs.dialect()
    plugs.package("acme", other=place)

    assert refusal("other") == f"{place} has the name 'plugged', its entry point 'other'"


def test_an_entry_point_with_a_name_of_ours_leaves_open_which_is_meant(plugs: Plugs) -> None:
    plugs.package("acme", ag_ui=plugs.dialect())

    assert refusal("ag-ui") == "ag-ui is a wire of the gateway, and acme has one of that name"
    assert load("v2") is DIALECTS["v2"]


def test_two_entry_points_of_one_name(plugs: Plugs) -> None:
    plugs.package("zeta", plugged=plugs.dialect())
    plugs.package("acme", plugged=plugs.dialect())

    assert refusal("plugged") == "acme, zeta each have a dialect 'plugged'"


def test_no_recording_chooses_a_module(plugs: Plugs) -> None:
    module = plugs.module("raise SystemExit")

    with pytest.raises(BadDialectError, match=f"^no dialect '{module}:Name' is installed$"):
        find_installed(f"{module}:Name")
