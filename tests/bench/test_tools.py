import shutil
from pathlib import Path

import pytest

from gateway.needed import program
from turnwire_lab.bench import tools as building
from turnwire_lab.bench.load import Load, Plan
from turnwire_lab.bench.tools import NotBuiltError, tools


def test_tools_are_built_once_and_outside_the_tree(folder: Path) -> None:
    program("cc")
    first = tools(compiler="cc", cache=folder)
    built = Path(first.agent[0]).stat().st_mtime_ns

    again = tools(compiler="cc", cache=folder)

    assert again == first
    assert Path(again.agent[0]).stat().st_mtime_ns == built
    assert [each.name for each in folder.iterdir()] == [Path(first.agent[0]).parent.name]


def test_other_sources_are_built_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = building._folder(folder, "cc")
    sources = folder / "sources"
    shutil.copytree(building.NATIVE, sources)
    monkeypatch.setattr(building, "NATIVE", sources)
    same = building._folder(folder, "cc")
    (sources / "common.h").write_text("#error no")

    assert same == before
    assert building._folder(folder, "cc") != before
    program("cc")
    with pytest.raises(NotBuiltError, match="#error no"):
        tools(compiler="cc", cache=folder / "cache")


def test_without_a_compiler_there_are_no_tools(folder: Path) -> None:
    with pytest.raises(NotBuiltError, match="apt-get install gcc"):
        tools(compiler="no-such-compiler", cache=folder)

    assert list(folder.iterdir()) == []


def test_the_cache_is_where_the_system_keeps_such_things(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")

    assert building.default_cache() == Path("/somewhere/turnwire-bench")


def test_a_plan_is_written_as_the_agent_reads_it() -> None:
    plan = Plan(
        deltas=7, size=33, rate=2.5, batch=4, spellings=2, tools=1, output=3, noise=9, hold=True
    )

    assert plan.words == "n=7 s=33 r=2.5 b=4 spellings=2 tools=1 noise=9 output=3 hold=1"


def test_a_load_opens_as_many_streams_as_it_has_at_once_unless_told_otherwise() -> None:
    plan = Plan(deltas=1)

    once = Load(plan=plan, streams=3).arguments(1, "/x", frames=False)
    more = Load(plan=plan, streams=3, total=9).arguments(1, "/x", frames=True)

    assert once[once.index("-t") + 1] == "3"
    assert more[more.index("-t") + 1] == "9"
    assert ("-F" in once, "-F" in more) == (False, True)
