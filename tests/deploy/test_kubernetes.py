"""The manifests: valid, restricted, and patient with long turns."""

import json
from pathlib import Path
from typing import Final

import pytest
from prometheus_client import CollectorRegistry

from deploy.parts import ROOT, Json, manifests, one, run, tool
from gateway.needed import program
from turnwire.config.settings import Settings
from turnwire.metrics import Telemetry

pytestmark = pytest.mark.timeout(180)  # some of these tools take seconds to start

NO_SCHEMA: Final = "Couldn't find schema for kind ServiceMonitor"
CRDS: Final = Path(__file__).parent / "crds"


@pytest.fixture(scope="module")
def production() -> list[Json]:
    return manifests("production")


@pytest.fixture(scope="module", params=["base", "production", "with-agent"])
def overlay(request: pytest.FixtureRequest) -> list[Json]:
    return manifests(request.param)


def pod(of: list[Json]) -> Json:
    spec: Json = one("Deployment", "turnwire", of)["spec"]["template"]["spec"]
    return spec


def test_every_manifest_follows_its_schema(tmp_path: Path) -> None:
    given = [*manifests("base"), *manifests("production"), *manifests("with-agent")]
    monitors = [each for each in given if each["kind"] == "ServiceMonitor"]
    broken = one("Deployment", "turnwire", manifests("base"))
    broken["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    for number, each in enumerate([*given, broken]):
        (tmp_path / f"{number:02}.yaml").write_text(json.dumps(each), encoding="utf-8")

    _, said, _ = run([tool("kubernetes-validate"), "--strict", *sorted(tmp_path.iterdir())])

    lines = [line for line in said.splitlines() if line.startswith(("INFO", "WARN", "ERROR"))]
    passed = [line for line in lines if line.startswith("INFO") and " passed " in line]
    assert len(passed) == len(given) - len(monitors), said
    warned = [line for line in lines if line.startswith("WARN")]
    assert [NO_SCHEMA in line for line in warned] == [True] * len(monitors)
    assert "readynessProbe" in said
    assert f"{len(given):02}.yaml passed" not in said


@pytest.mark.parametrize("name", ["turnwire", "turnwire-agent"])
def test_the_service_monitor_follows_the_operators_schema(name: str) -> None:
    if not (CRDS / "node_modules").exists():
        tool("the schema of ServiceMonitor")
    monitor = one("ServiceMonitor", name, manifests("with-agent"))
    check = [program("node"), CRDS / "check.mjs"]

    assert run(check, given=json.dumps(monitor))[0] == 0
    # The schema lets unknown fields pass, which the operator would drop.
    assert monitor["spec"].keys() == {"selector", "endpoints"}
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint.keys() == {"port", "path", "interval", "scrapeTimeout"}
    endpoint["interval"] = "15 sec"
    assert run(check, given=json.dumps(monitor))[0] == 1


def test_the_pods_are_of_the_restricted_profile(overlay: list[Json]) -> None:
    spec = pod(overlay)

    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert {next(iter(volume.keys() - {"name"})) for volume in spec["volumes"]} == {"secret"}
    assert f"USER {spec['securityContext']['runAsUser']}:" in (
        (ROOT / "deploy/docker/Dockerfile").read_text(encoding="utf-8")
    )


def test_a_pod_has_the_time_that_its_turns_have(overlay: list[Json]) -> None:
    spec = pod(overlay)
    (config,) = (
        each["data"]
        for each in overlay
        if each["kind"] == "ConfigMap" and "TURNWIRE_ENABLED" in each["data"]
    )
    (container,) = spec["containers"]

    takes_s = (
        container["lifecycle"]["preStop"]["sleep"]["seconds"]
        + float(config["TURNWIRE_LAMEDUCK_S"])
        + float(config["TURNWIRE_DRAIN_S"])
        + float(config.get("TURNWIRE_STALL_S", Settings().stall_s))
        + 7  # the server's farewell, and what it rounds up
    )
    assert takes_s <= spec["terminationGracePeriodSeconds"] <= takes_s + 60
    # Not ready is noticed while it still serves.
    probe = container["readinessProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] < float(config["TURNWIRE_LAMEDUCK_S"])


def test_selectors_meet_the_labels_and_only_they(production: list[Json]) -> None:
    own = {"app.kubernetes.io/name": "turnwire"}
    deployment = one("Deployment", "turnwire", production)
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    metrics = one("Service", "turnwire-metrics", production)
    monitor = one("ServiceMonitor", "turnwire", production)
    policy = one("NetworkPolicy", "turnwire", production)["spec"]

    assert own.items() <= labels.items()
    assert deployment["spec"]["selector"]["matchLabels"] == own
    assert one("PodDisruptionBudget", "turnwire", production)["spec"]["selector"] == {
        "matchLabels": own
    }
    assert policy["podSelector"] == {"matchLabels": own}
    assert one("Service", "turnwire", production)["spec"]["selector"] == own
    assert metrics["spec"]["selector"] == own
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= metrics["metadata"]["labels"].items()
    assert (
        not wanted.items() <= one("Service", "turnwire", production)["metadata"]["labels"].items()
    )
    # Kustomize can write our own label into these, and then no name is looked up any more.
    dns = policy["egress"][0]["to"][0]["podSelector"]["matchLabels"]
    assert dns == {"k8s-app": "kube-dns"}


def test_the_metrics_are_ours_and_the_public_way_does_not_lead_to_them(
    production: list[Json],
) -> None:
    scaler = one("HorizontalPodAutoscaler", "turnwire", production)["spec"]
    names = {family.name for family in Telemetry(CollectorRegistry()).registry.collect()}
    pods = [each["pods"] for each in scaler["metrics"] if each["type"] == "Pods"]
    (config,) = (each["data"] for each in production if each["kind"] == "ConfigMap")

    assert [each["metric"]["name"] for each in pods] == ["turnwire_streams_active"]
    assert "turnwire_streams_active" in names
    assert "replicas" not in one("Deployment", "turnwire", production)["spec"]
    # A pod is full at twice what is aimed at: so long have new ones to come.
    assert int(config["TURNWIRE_MAX_STREAMS"]) >= 2 * int(pods[0]["target"]["averageValue"])
    (rule,) = one("Ingress", "turnwire", production)["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["path"] == "/api/sessions/([^/]+)/"
    assert path["backend"]["service"] == {"name": "turnwire", "port": {"name": "http"}}
