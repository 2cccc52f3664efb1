"""A name goes out in letters that a provider takes, and comes back as it was registered."""

import re
import subprocess
import sys
from random import Random

import msgspec
import pytest

from support.seeds import each_seed
from turnwire_agent.tools.names import (
    BadNameError,
    WireNames,
    check_name,
    wire_name,
    wire_names,
)
from turnwire_agent.tools.schema.rules import Shape

SHAPES: tuple[Shape, ...] = ("chat", "responses", "messages", "google")
TAKEN = {
    "chat": r"[a-zA-Z0-9_-]{1,64}",
    "responses": r"[a-zA-Z0-9_-]{1,64}",
    "messages": r"[a-zA-Z0-9_-]{1,128}",
    "google": r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}",
}
ALPHABETS = (
    "abc._-/: ",
    "äöüßéñçøåÅ",
    "日本語工具名前",
    "ab\u0301\u200d👩‍👧🔧",
    "".join(map(chr, range(32, 400))),
    "\ud800\udfff\u0000\n",
)


def random_names(random: Random, count: int) -> set[str]:
    names: set[str] = set()
    while len(names) < count:
        alphabet = random.choice(ALPHABETS)
        names.add("".join(random.choices(alphabet, k=random.randint(1, 100))))
    return names


@each_seed(60)
def test_any_200_names_go_out_and_come_back(seed: int) -> None:
    names = random_names(Random(seed), 200)  # noqa: S311 (the same names every time)
    for shape in SHAPES:
        table = wire_names(names, shape)

        assert len(table.registered) == 200
        for name in names:
            wire = table.wire(name)
            assert re.fullmatch(TAKEN[shape], wire), wire
            assert table.tool(wire) == name


@pytest.mark.parametrize("shape", SHAPES)
def test_names_that_differ_in_replaced_letters_do_not_meet(shape: Shape) -> None:
    names = ["read.only", "read_only", "read/only", "read only", "rèad_only", "re\u0300ad_only"]

    assert len(wire_names(names, shape).registered) == len(names)


@pytest.mark.parametrize(
    ("name", "shape", "wire"),
    [
        ("read_only", "chat", "read_only"),
        ("orders.cancel", "google", "orders.cancel"),
        ("orders.cancel", "chat", "orders_cancel_e8ebb43a"),
        ("orders.cancel", "messages", "orders_cancel_e8ebb43a"),
        ("9lives", "chat", "9lives"),
        ("x" * 64, "responses", "x" * 64),
        ("x" * 128, "messages", "x" * 128),
    ],
)
def test_a_name_stays_as_it_is_where_it_can(name: str, shape: Shape, wire: str) -> None:
    assert wire_name(name, shape) == wire


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("größe ändern", "groe_andern"),
        ("日本", "tool"),
        ("9.lives", "_9_lives"),
        ("--", "tool"),
        ("x" * 200, "x" * 55),
        ("5" * 200, "_" + "5" * 54),
    ],
)
def test_any_other_is_a_slug_and_a_digest(name: str, slug: str) -> None:
    wire = wire_name(name, "google")

    assert re.fullmatch(rf"{slug}_[0-9a-f]{{8}}", wire), wire


def test_a_name_is_the_same_in_every_process() -> None:
    code = (
        "from turnwire_agent.tools.names import wire_name\n"
        "print(*(wire_name(n, 'chat') for n in ('orders.cancel', 'größe', '日本')))"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert runs == {"orders_cancel_e8ebb43a groe_d353a267 tool_cf2abf0c\n"}


def test_two_names_that_meet_are_refused() -> None:
    wire = wire_name("orders.cancel", "chat")

    with pytest.raises(BadNameError, match=f"'orders.cancel' and '{wire}' are both"):
        wire_names(["orders.cancel", wire], "chat")


def test_a_name_that_is_given_twice_is_one() -> None:
    assert wire_names(["a.b", "a.b"], "chat").registered == {"a_b_2e7336dc": "a.b"}


def test_an_invented_name_is_answered_with_the_real_ones() -> None:
    table = wire_names(["write", "read.only"], "chat")

    assert table.tool("read.only") is None
    assert table.unknown("read.only") == (
        f"There is no tool 'read.only'. The tools are: {wire_name('read.only', 'chat')}, write."
    )
    assert wire_names([], "chat").unknown("x") == "There is no tool 'x'. There are no tools."


def test_an_answer_to_an_invented_name_has_a_bound() -> None:
    table = wire_names([f"tool_{at:03}" for at in range(200)], "chat")
    answer = table.unknown("\n" * 10_000)

    assert "tool_049 and 150 more." in answer
    assert len(answer) < 1_000
    assert "\n" not in answer


def test_a_table_is_data() -> None:
    table = wire_names(["orders.cancel", "read"], "chat")

    assert msgspec.json.decode(msgspec.json.encode(table), type=WireNames) == table


def test_a_name_that_is_not_registered_has_no_wire_name() -> None:
    with pytest.raises(KeyError):
        wire_names(["a"], "chat").wire("b")


@pytest.mark.parametrize(
    "name", ["read", "orders.cancel", "server/tool", "größe ändern", "x" * 256]
)
def test_a_printable_line_is_a_name(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["", " a", "a ", "a\n", "a\x00", "\ud800", "x" * 257, None, 5])
def test_what_is_no_name_is_refused(name: object) -> None:
    with pytest.raises(BadNameError) as refused:
        check_name(name)

    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 150
