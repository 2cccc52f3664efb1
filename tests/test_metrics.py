"""Metrics: closed labels, whatever comes from outside."""

import random
import string

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from turnwire import __version__
from turnwire.core.turn.outcome import Outcome
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.metrics import LAG_BUCKETS_S, TYPES_MAX, PlainCounter, PlainHistogram, Telemetry


def telemetry() -> Telemetry:
    return Telemetry(CollectorRegistry())


def series(of: Telemetry, name: str) -> int:
    text = generate_latest(of.registry).decode()
    return sum(line.startswith((f"{name}{{", f"{name} ")) for line in text.splitlines())


@pytest.mark.attack("10,000 unknown frame types over many streams", "50 series and `other`")
def test_ten_thousand_unknown_frame_types_make_a_bounded_number_of_series() -> None:
    metrics = telemetry()
    dice = random.Random(7)  # noqa: S311 (dice of a test)
    for _ in range(10_000):
        kind = "".join(dice.choices(string.ascii_letters, k=12))
        metrics.unrecognised.labels(metrics.frame_type(kind)).inc()

    assert series(metrics, "turnwire_frames_unrecognised_total") == TYPES_MAX + 1
    counted = [
        sample.value
        for metric in metrics.unrecognised.collect()
        for sample in metric.samples
        if sample.name.endswith("_total")
    ]
    assert sum(counted) == 10_000


def test_a_type_that_was_seen_early_keeps_its_label() -> None:
    metrics = telemetry()
    assert metrics.frame_type("brand.new") == "brand.new"
    for number in range(1_000):
        metrics.frame_type(f"type-{number}")

    assert metrics.frame_type("brand.new") == "brand.new"
    assert metrics.frame_type("newer") == "other"


def test_a_type_that_is_no_name_gets_no_label() -> None:
    metrics = telemetry()
    strange = ["", " ", "a b", 'a"b', "a\nb", "é", "x" * 65, "{}", "\u202e", "type\n"]

    assert {metrics.frame_type(kind) for kind in strange} == {"other"}


@pytest.mark.attack(
    "10,000 long frame types in one stream", "32 names of up to 64 letters are kept"
)
def test_one_stream_cannot_fill_the_memory_with_names() -> None:
    frame_stats = FrameStats()
    for number in range(10_000):
        frame_stats.count_unknown(f"{number}" * (number % 100))

    assert len(frame_stats.unrecognised) == FrameStats.KINDS_MAX + 1
    assert sum(frame_stats.unrecognised.values()) == 10_000
    assert all(len(kind) <= 64 for kind in frame_stats.unrecognised)


def test_the_names_of_the_metrics_are_those_that_dashboards_use() -> None:
    metrics = telemetry()
    names = {metric.name for metric in metrics.registry.collect()}

    assert names == {
        "turnwire_streams",
        "turnwire_streams_active",
        "turnwire_streams_admitted",
        "turnwire_streams_limit",
        "turnwire_requests",
        "turnwire_turn_wait_seconds",
        "turnwire_relay_seconds",
        "turnwire_dial_seconds",
        "turnwire_keepalives",
        "turnwire_client_blocks",
        "turnwire_written_bytes",
        "turnwire_held_bytes",
        "turnwire_held_bytes_limit",
        "turnwire_access_check_seconds",
        "turnwire_jwks_fetches",
        "turnwire_jwks_age_seconds",
        "turnwire_rate_store_failures",
        "turnwire_event_loop_lag_seconds",
        "turnwire_event_loop_late_seconds",
        "turnwire_ready",
        "turnwire_stopping_seconds",
        "turnwire_stopping_limit_seconds",
        "turnwire_tasks",
        "turnwire_refusals",
        "turnwire_time_to_first_byte_seconds",
        "turnwire_turn_duration_seconds",
        "turnwire_dial_failures",
        "turnwire_history_left_out",
        "turnwire_frames",
        "turnwire_frames_foreign",
        "turnwire_frames_malformed",
        "turnwire_frames_unrecognised",
        "turnwire_deltas_doubled",
        "turnwire_drift_frames",
        "turnwire_recordings",
        "turnwire_turn_log_turns",
        "turnwire_turn_log_bytes",
        "turnwire_turn_log_too_long",
        "turnwire_turn_log_failures",
        "turnwire_agent_requests",
        "turnwire_agent_heads_late",
        "turnwire_agent_connections_kept",
        "turnwire_build_info",
    }
    build = metrics.registry.get_sample_value("turnwire_build_info", {"version": __version__})
    assert build == 1


def test_the_labels_of_outcomes_are_words() -> None:
    assert all(outcome.value.replace("_", "").isalpha() for outcome in Outcome)


def test_plain_numbers_are_told_as_the_library_tells_its_own() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    total = PlainCounter("turnwire_a", "A total.", registry=ours)
    spread = PlainHistogram("turnwire_b", "A spread.", registry=ours, buckets=LAG_BUCKETS_S)
    counter = Counter("turnwire_a", "A total.", registry=theirs)
    histogram = Histogram("turnwire_b", "A spread.", registry=theirs, buckets=LAG_BUCKETS_S)
    dice = random.Random(3)  # noqa: S311 (dice of a test)

    for _ in range(3):
        lines = generate_latest(theirs).decode().splitlines()
        assert generate_latest(ours).decode().splitlines() == [
            line for line in lines if "_created" not in line
        ]
        for amount in (0.0, *LAG_BUCKETS_S, *(dice.expovariate(3) for _ in range(50)), 99):
            spread.observe(amount)
            histogram.observe(amount)
            total.inc(amount)
            counter.inc(amount)
        total.inc()
        counter.inc()


def test_a_name_is_taken_by_what_is_registered_first() -> None:
    registry = CollectorRegistry()
    PlainCounter("turnwire_a", "A total.", registry=registry)
    PlainHistogram("turnwire_b", "A spread.", registry=registry, buckets=[1])

    for name in ("turnwire_a", "turnwire_b"):
        with pytest.raises(ValueError, match="Duplicated"):
            PlainCounter(name, "Another.", registry=registry)
