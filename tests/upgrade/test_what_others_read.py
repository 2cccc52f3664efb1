"""What dashboards, readers of the log, clients and `turnwire replay` knew before is still there."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from gateway.clients import ask, new_client
from gateway.tokens import KEY, bearer
from gateway.waiting import until
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.process import free_port
from upgrade.older import Version, environ, ran

pytestmark = pytest.mark.sockets

METHODS: Final = ("delete", "get", "post", "put")
CODES: Final = """\
from turnwire.errors import TurnwireError
kinds = [TurnwireError]
for kind in kinds:
    kinds += kind.__subclasses__()
    if hasattr(kind, "code"):
        print(kind.status, kind.code)
"""
"""The status and the code of each error that a client may get."""


@dataclass
class Seen:
    """A gateway from outside, after a turn that failed and a look into the history."""

    metrics: set[tuple[str, tuple[tuple[str, str], ...]]]
    """Each sample: its name and its labels. Of a histogram's buckets the name alone."""
    log: set[tuple[str, str]]
    """Each field of each kind of line."""
    routes: dict[tuple[str, str], Any]
    headers: set[str]
    """Of a stream."""
    replayed: tuple[int, str]
    """What `turnwire replay` of this version makes of its own recording."""


async def look(folder: Path | None, records: Path) -> Seen:
    """See what this version does; its recording is left in `records`."""
    metrics_port = free_port()
    async with ReferenceAgent() as agent, new_client() as client:
        settings: dict[str, object] = {
            "enabled": "true",
            "agent_url": agent.url,
            "jwt_key": KEY,
            "lag_s": 0,
            "port": 0,
            "metrics_port": metrics_port,
            "record_dir": records,
        }
        async with Version(settings, folder) as gateway:
            url = f"{gateway.url}/api/sessions/s1"
            body = ask("make the turn fail")
            response = await client.post(f"{url}/chat", json=body, headers=bearer())
            assert response.status_code == httpx.codes.OK
            await client.get(f"{url}/messages", headers=bearer())
            await until(lambda: gateway.logged("stream ended") and gateway.logged("answered"))
            await until(lambda: list(records.iterdir()))
            exposed = (await client.get(f"http://127.0.0.1:{metrics_port}/metrics")).text
            document = (await client.get(f"{gateway.url}/openapi.json")).json()
            log = [line for line in gateway.log if "Started server" not in line["event"]]
    samples = [s for family in text_string_to_metric_families(exposed) for s in family.samples]
    return Seen(
        metrics={(s.name, () if s.name.endswith("_bucket") else labels(s.labels)) for s in samples},
        log={(line["event"], field) for line in log for field in line},
        routes={
            (path, method): operation
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            if method in METHODS
        },
        headers=set(response.headers),
        replayed=replay(records, folder),
    )


def labels(of_sample: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Sorted, and without the value of the one that differs: the version."""
    return tuple(sorted({**of_sample, **dict.fromkeys({"version"} & of_sample.keys(), "")}.items()))


def replay(records: Path, folder: Path | None) -> tuple[int, str]:
    (file,) = records.iterdir()
    return ran(("-m", "turnwire", "replay", str(file)), environ({}, folder), records)


@dataclass
class Both:
    older: Seen
    ours: Seen
    crossed: tuple[int, str]
    """The older version's recording, replayed by ours."""


@pytest.fixture(scope="module")
def both(older: Path, tmp_path_factory: pytest.TempPathFactory) -> Both:
    records = tmp_path_factory.mktemp("older-records")
    before = asyncio.run(look(older, records))
    now = asyncio.run(look(None, tmp_path_factory.mktemp("records")))
    return Both(before, now, replay(records, None))


def test_no_metric_and_no_label_is_gone(both: Both) -> None:
    assert len(both.older.metrics) > 100
    assert both.older.metrics - both.ours.metrics == set()


def test_no_line_and_no_field_of_the_log_is_gone(both: Both) -> None:
    assert ("stream ended", "outcome") in both.older.log
    assert both.older.log - both.ours.log == set()


def test_no_route_parameter_or_status_is_gone(both: Both) -> None:
    assert both.older.routes.keys() <= both.ours.routes.keys()
    for place, before in both.older.routes.items():
        now = both.ours.routes[place]
        assert before["responses"].keys() <= now["responses"].keys(), place
        assert parameters(before) - parameters(now) == set(), place
        assert demanded(now) <= demanded(before), f"{place} demands more"


def parameters(operation: Any) -> set[tuple[str, str]]:
    return {(each["name"], each["in"]) for each in operation.get("parameters", [])}


def demanded(operation: Any) -> set[str]:
    return {each["name"] for each in operation.get("parameters", []) if each.get("required")}


def test_no_code_of_an_error_is_gone(older: Path, tmp_path: Path) -> None:
    before, now = (ran(("-c", CODES), environ({}, folder), tmp_path) for folder in (older, None))

    assert (before[0], now[0]) == (0, 0)
    assert "409 conflict" in before[1]
    assert set(before[1].splitlines()) <= set(now[1].splitlines())


def test_no_header_of_a_stream_is_gone(both: Both) -> None:
    assert both.older.headers - both.ours.headers == set()


def test_a_recording_of_the_older_version_is_replayed(both: Both) -> None:
    assert both.older.replayed[0] == 0
    assert '"type":"error"' in both.older.replayed[1]
    assert both.crossed == both.older.replayed
