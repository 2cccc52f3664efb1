"""What rows of the table measure: figures of rounds, and of pairs of them."""

from collections.abc import Callable, Mapping

from turnwire_lab.bench.contenders import AG_UI, DIRECT, TURNWIRE
from turnwire_lab.bench.figures import Figure, difference, figure, ratio, ratio_of_many
from turnwire_lab.bench.rounds import ROUNDS_A_START, Rounds

Measure = Callable[[Rounds], Figure | None]
"""None: there are no such rounds."""


def rate(
    case: str,
    theirs: str,
    mode: str = "burst",
    name: str = "frames_per_core_s",
    ours: str = TURNWIRE,
) -> Measure:
    """How many times as much of something as another contender has."""
    return lambda rounds: ratio(
        rounds.values(mode, case, ours, name), rounds.values(mode, case, theirs, name)
    )


def cost(case: str, theirs: str) -> Measure:
    return rate(case, theirs, "paced", "us_per_frame")


def value(mode: str, case: str, name: str, contender: str = TURNWIRE) -> Measure:
    return lambda rounds: figure(list(rounds.values(mode, case, contender, name).values()))


def between(mode: str, cases: tuple[str, str], contenders: tuple[str, str]) -> Measure:
    """What a frame costs in one case, as many times as in another."""
    return lambda rounds: ratio(
        rounds.values(mode, cases[0], contenders[0], "us_per_frame"),
        rounds.values(mode, cases[1], contenders[1], "us_per_frame"),
    )


def apart(mode: str, case: str) -> Measure:
    """How many times as long as the usual client the last of a hundred waits."""
    return lambda rounds: ratio(
        rounds.values(mode, case, TURNWIRE, "first_byte_p99_ms"),
        rounds.values(mode, case, TURNWIRE, "first_byte_p50_ms"),
    )


def added_us(
    rounds: Rounds, case: str, contender: str, point: str, mode: str = "paced"
) -> Mapping[int, float]:
    """Latency by round, without the rig's own hop in the same round."""
    ours, rig = (_latency_us(rounds, case, name, point, mode) for name in (contender, DIRECT))
    return difference(ours, rig)


def _latency_us(
    rounds: Rounds, case: str, contender: str, point: str, mode: str
) -> Mapping[int, float]:
    """Latency by round, with the rig's own hop."""
    return {
        each.number: float(getattr(each.latency_us, point))
        for each in rounds.of(mode, case, contender)
        if each.latency_us is not None
    }


def added(case: str, point: str, contender: str = TURNWIRE) -> Measure:
    return lambda rounds: figure(list(added_us(rounds, case, contender, point).values()))


def added_beyond(case: str, point: str, theirs: str) -> Measure:
    """How much more latency than another contender adds in the same round."""

    def measure(rounds: Rounds) -> Figure | None:
        ours, other = (added_us(rounds, case, each, point) for each in (TURNWIRE, theirs))
        return figure(list(difference(ours, other).values()))

    return measure


def added_ratio(case: str, point: str, theirs: str, ours: str = TURNWIRE) -> Measure:
    return lambda rounds: ratio(
        added_us(rounds, case, ours, point), added_us(rounds, case, theirs, point)
    )


def beside(case: str, figure: str, theirs: str, ours: str) -> Measure:
    """How many times another contender's figure, by many rounds."""
    return lambda rounds: ratio_of_many(
        rounds.values("turn-log", case, ours, figure),
        rounds.values("turn-log", case, theirs, figure),
        ROUNDS_A_START,
    )


def latency_beside(case: str, point: str, theirs: str, ours: str) -> Measure:
    """How many times another contender's latency, with the rig's own hop, by many rounds."""
    return lambda rounds: ratio_of_many(
        _latency_us(rounds, case, ours, point, "turn-log"),
        _latency_us(rounds, case, theirs, point, "turn-log"),
        ROUNDS_A_START,
    )


def turn_log_mb(contender: str) -> Measure:
    """What open streams with a turn log hold more than those without."""
    return lambda rounds: figure(
        list(
            difference(
                *(
                    rounds.values("http-turn-log", "1000", name, "mb_per_1000")
                    for name in (contender, AG_UI)
                )
            ).values()
        )
    )


def http_p99(case: str, contender: str) -> Measure:
    return lambda rounds: figure(
        list(added_us(rounds, case, contender, "p99", "http-paced").values())
    )
