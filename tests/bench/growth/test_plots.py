import importlib.util
from pathlib import Path

from gateway.needed import lacking
from turnwire_lab.bench.contenders import TURNWIRE
from turnwire_lab.bench.growth.axes import MODE, STREAMS
from turnwire_lab.bench.growth.parts import FRAME
from turnwire_lab.bench.plots import draw
from turnwire_lab.bench.rounds import Round, Rounds


def test_only_the_points_of_an_axis_are_in_its_plot(tmp_path: Path) -> None:
    """A load of the model has a name that begins with the same word."""
    if importlib.util.find_spec("matplotlib") is None:
        lacking("matplotlib is not installed (`make bench` installs it)")
    cases = {STREAMS.case(count): 50.0 / count for count in STREAMS.counts} | {FRAME.case(100): 9e9}
    rounds = Rounds(
        Round(
            mode=MODE,
            case=case,
            contender=TURNWIRE,
            number=number,
            figures={STREAMS.figure: cost},
        )
        for case, cost in cases.items()
        for number in range(3)
    )

    drawn = draw(rounds, tmp_path)

    assert drawn == [f"growth-streams.svg:{STREAMS.title}"]
    picture = (tmp_path / "growth-streams.svg").read_text()
    assert "µs of CPU per frame" in picture
    assert "1,024" in picture or "1,000" in picture
    assert "e+09" not in picture
