"""The commands that write and check the files, and the picture."""

from pathlib import Path

import pytest

from turnwire_lab.dashboards.__main__ import FILES, main
from turnwire_lab.dashboards.panels import ROWS
from turnwire_lab.dashboards.picture import Series, picture

PNG = b"\x89PNG"


def test_what_is_stale_is_named_and_written_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--check"], tmp_path) == 1
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == sorted(
        Path(name).name for name in FILES
    )
    capsys.readouterr()
    (tmp_path / "turnwire.json").write_text("{}", encoding="utf-8")

    assert main(["--check"], tmp_path) == 1
    assert capsys.readouterr().out == "dashboards/turnwire.json is stale: run `make dashboards`\n"


@pytest.mark.timeout(180)  # the first use of its fonts
def test_every_panel_can_be_plotted(tmp_path: Path) -> None:
    queries = [query for row in ROWS for panel in row.panels for query in panel.queries]
    rising = [(float(at), at * 10.0**at) for at in range(6)]
    series: Series = [
        ({"instance": "a", "outcome": "completed"}, rising),
        ({"instance": "b"}, [(2.0, 0.5), (3.0, float("nan"))]),
    ]
    to = tmp_path / "dashboard.png"
    picture({query.expr: series for query in queries}, to)

    assert to.read_bytes().startswith(PNG)
