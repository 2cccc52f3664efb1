"""What each operator makes of a function, and what is left out."""

from pathlib import Path

import pytest

from mutation.changes import changes


def made(folder: Path, source: str) -> list[str]:
    path = folder / "code.py"
    path.write_text(source)
    return [f"{change.before} -> {change.after}" for change in changes([path], folder)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("x = a < b", ["a < b -> a <= b", "a < b -> a >= b"], id="comparison"),
        pytest.param("x = a is None", ["a is None -> a is not None"], id="identity"),
        pytest.param("x = a in b", ["a in b -> a not in b"], id="membership"),
        pytest.param(
            "x = a and b", ["a and b -> a or b", "a and b -> b", "a and b -> a"], id="boolean"
        ),
        pytest.param("x = not a", ["not a -> a"], id="a negation is not there"),
        pytest.param("x = a + b", ["a + b -> a - b"], id="arithmetic"),
        pytest.param("x = a + '.'", ["a + '.' -> a", "a + '.' -> '.'", "'.' -> ''"], id="text"),
        pytest.param("x = True", ["True -> False"], id="truth"),
        pytest.param("x = 0", ["0 -> 1"], id="zero"),
        pytest.param("x = 5", ["5 -> 6", "5 -> 4"], id="number"),
        pytest.param("x = b''", ["b'' -> b'mutant'"], id="bytes"),
        pytest.param("x = a[b:]", ["b: -> :"], id="slice"),
        pytest.param("x = a.copy()", ["a.copy() -> a"], id="a method is not called"),
        pytest.param("x = min(a, b)", ["min(a, b) -> max(a, b)"], id="name"),
        pytest.param("x = f(a, b)", ["f(a, b) -> f(b, a)"], id="arguments"),
        pytest.param("x = f(a, c=b)", ["f(a, c=b) -> f(a)"], id="an argument is not there"),
        pytest.param("f(a)", ["f(a) -> nothing"], id="a call is not there"),
        pytest.param("a.b = c", ["a.b = c -> nothing"], id="an assignment is not there"),
        pytest.param("a += b", ["a += b -> a -= b", "a += b -> nothing"], id="a sum"),
        pytest.param("return a", ["return a -> return None"], id="return value"),
        pytest.param("if a:\n  return", ["a -> not a", "return -> nothing"], id="condition"),
        pytest.param(
            "for x in a:\n  break",
            ["for x in a -> for x in ()", "break -> nothing"],
            id="loop",
        ),
        pytest.param("try:\n  g\nexcept E:\n  a", ["except E -> raise"], id="handler"),
        pytest.param(
            "match a:\n  case B():\n    c\n  case D() if e:\n    f",
            [
                "case B() -> nothing",
                "case D() if e -> nothing",
                "case D() if e -> case D()",
                "e -> not e",
            ],
            id="cases",
        ),
        pytest.param(
            "match a:\n  case 1 | 2:\n    c",
            ["1 | 2 -> 2", "1 | 2 -> 1", "1 -> 2", "1 -> 0", "2 -> 3", "2 -> 1"],
            id="an alternative is not there",
        ),
    ],
)
def test_operators(tmp_path: Path, body: str, expected: list[str]) -> None:
    lines = "\n".join(f"  {line}" for line in body.splitlines())

    assert made(tmp_path, f"def f(a, b):\n{lines}\n") == expected


@pytest.mark.parametrize(
    "source",
    [
        pytest.param('"""Words."""\nA: int = 1\nB = A < 2\n', id="a module"),
        pytest.param(
            'class A:\n  """Words."""\n  __slots__ = ("a",)\n  b: int = 1\n', id="a class"
        ),
        pytest.param('def f(a: int = 1) -> "A":\n  """Words."""\n', id="its head"),
        pytest.param("@d(1)\ndef f():\n  ...\n", id="its decorators"),
        pytest.param('def f():\n  a: "B | None"\n', id="annotations"),
        pytest.param('def f(a):\n  assert a > 1, "why"\n', id="invariants"),
        pytest.param("def f(a):\n  assert_never(a)\n", id="what cannot be"),
        pytest.param("def f(a):\n  x = cast('A', a)\n", id="a cast"),
        pytest.param("def f(a):\n  x = isinstance(a, B | C)\n", id="asking for a type"),
    ],
)
def test_what_does_nothing_when_it_runs_is_left_out(tmp_path: Path, source: str) -> None:
    assert made(tmp_path, source) == []


def test_the_words_of_an_exception_are_left_out(tmp_path: Path) -> None:
    source = "def f(a):\n  raise E(f'{a} is odd')\n"

    assert made(tmp_path, source) == ["raise E(f'{a} is odd') -> nothing"]


def test_two_that_read_the_same_have_names_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "code.py"
    path.write_text("class A:\n  def f(self):\n    g()\n    g()\n")

    assert [(change.name, change.line) for change in changes([path], tmp_path)] == [
        ("code.py:A.f: g() -> nothing", 3),
        ("code.py:A.f: g() -> nothing (2)", 4),
    ]


@pytest.mark.parametrize(
    ("source", "change", "lines"),
    [
        pytest.param("if (a\n    < b):\n    c()\n", "a < b -> a <= b", {2, 3}, id="a head"),
        pytest.param("if a:\n    c(\n      )\n", "c() -> nothing", {3, 4}, id="a statement"),
        pytest.param(
            "match a:\n    case 1:\n      c\n    case 2:\n      d\n",
            "case 2 -> nothing",
            {5, 6},
            id="a case and what it does",
        ),
    ],
)
def test_the_lines_of_a_change_are_those_of_its_statement(
    tmp_path: Path, source: str, change: str, lines: set[int]
) -> None:
    path = tmp_path / "code.py"
    path.write_text("def f(a, b):\n" + "".join(f"  {line}\n" for line in source.splitlines()))

    found = {f"{one.before} -> {one.after}": one.lines for one in changes([path], tmp_path)}

    assert found[change] == lines
