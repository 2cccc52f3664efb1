"""The files of the agent runtime: hardened, reached by gateways alone, with time to hand over."""

import re
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import DEPLOY, ROOT, Json, compose, manifests, one, run
from gateway.needed import program
from turnwire_agent.host.probes import ANSWER_S, HEALTH, READY
from turnwire_agent.host.server import CLOSE_S
from turnwire_agent.settings import Agent, from_file

pytestmark = pytest.mark.timeout(180)

FILES: Final = ("agent.toml", "kubernetes/agent/agent.toml", "systemd/agent.toml")
SECRETS: Final = {"agent_token", "journal", "model_key"}
UNIT: Final = DEPLOY / "systemd/turnwire-agent.service"
EXPOSURE: Final = 15
"""As of the gateway's unit."""


def takes_s(agent: Agent) -> float:
    """How long a process may take to stop: for its turns, for its sockets, and for its journal."""
    return 3 * agent.host.stop_s + CLOSE_S + 5


@pytest.mark.parametrize("name", FILES)
def test_settings_have_no_secret_and_ask_for_a_token_where_others_listen(name: str) -> None:
    agent = from_file(DEPLOY / name)

    assert agent.model
    assert agent.metrics
    if agent.listen.startswith("127.0.0.1:"):
        assert name.startswith("systemd")
    else:
        assert agent.token_file
    named = {agent.token_file, agent.journal_file, agent.key_file} - {None}
    assert {Path(str(each)).name for each in named} in (SECRETS, set())


def test_settings_of_all_ways_are_the_same_but_for_places() -> None:
    first, *others = (from_file(DEPLOY / name) for name in FILES)

    for other in others:
        assert (other.model, other.instructions) == (first.model, first.instructions)
        assert other.host == first.host


@pytest.mark.parametrize("name", ["agent", "agent2"])
def test_an_agent_of_compose_has_limits_and_time_and_is_reached_by_gateways_alone(
    name: str,
) -> None:
    given = compose("compose-agent.yaml")
    service = given["services"][name]
    agent = from_file(DEPLOY / "agent.toml")

    assert takes_s(agent) <= int(service["stop_grace_period"].removesuffix("s"))
    assert service["mem_limit"] == "1g"
    assert service["cpus"] >= 1
    assert service["pids_limit"]
    assert service["ulimits"]["nofile"]["soft"] > 2 * agent.host.sockets
    assert "ports" not in service
    # Its secrets are where its settings look for them.
    for path in (agent.token_file, agent.journal_file, agent.key_file):
        assert str(path).removeprefix("/run/secrets/") in service["secrets"]

    def members(network: str) -> set[str]:
        return {
            each for each, of in given["services"].items() if network in set(of.get("networks", ()))
        }

    assert members("agents") == {"gateway", "gateway2", "agent", "agent2", "prometheus"}
    assert members("journal") == {"agent", "agent2", "postgres"}
    assert members("models") == {"agent", "agent2"}
    assert given["networks"]["agents"]["internal"]
    assert given["networks"]["journal"]["internal"]
    assert "ports" not in given["services"]["postgres"]


def test_gateways_of_compose_find_the_agents_by_one_name() -> None:
    services = compose("compose-agent.yaml")["services"]
    url = services["gateway"]["environment"]["TURNWIRE_AGENT_URL"]
    port = from_file(DEPLOY / "agent.toml").listen.rpartition(":")[2]

    assert f"//agents:{port}/" in url
    for name in ("agent", "agent2"):
        assert services[name]["networks"]["agents"]["aliases"] == ["agents"]
        assert services[name]["healthcheck"]["test"][-1] == port


def test_prometheus_of_compose_asks_every_process() -> None:
    metrics = str(from_file(DEPLOY / "agent.toml").metrics).rpartition(":")[2]
    code, out, err = run([program("promtool"), "check", "config", DEPLOY / "prometheus-agent.yml"])
    scraped = (DEPLOY / "prometheus-agent.yml").read_text(encoding="utf-8")

    assert code == 0, out + err
    assert re.findall(r'"(\S+):(\d+)"', scraped) == [
        *((name, "9787") for name in ("gateway", "gateway2")),
        *((name, metrics) for name in ("agent", "agent2")),
    ]


@pytest.fixture(scope="module")
def cluster() -> list[Json]:
    return manifests("with-agent")


def pod(of: list[Json]) -> Json:
    spec: Json = one("Deployment", "turnwire-agent", of)["spec"]["template"]["spec"]
    return spec


def settings_of(cluster: list[Json], folder: Path) -> Agent:
    """What its pods are given."""
    (text,) = (
        each["data"]["agent.toml"]
        for each in cluster
        if each["kind"] == "ConfigMap" and "agent.toml" in each["data"]
    )
    path = folder / "agent.toml"
    path.write_text(text, encoding="utf-8")
    return from_file(path)


def test_its_pods_are_of_the_restricted_profile_with_limits(cluster: list[Json]) -> None:
    spec = pod(cluster)

    (container,) = spec["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"].keys() == {"cpu", "memory"}
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    image = (ROOT / "deploy/docker/Dockerfile").read_text("utf-8").partition(" AS agent\n")[2]
    assert f"USER {spec['securityContext']['runAsUser']}:" in image.partition("\nFROM")[0]


def test_its_pods_find_their_secrets_and_their_settings(
    cluster: list[Json], tmp_path: Path
) -> None:
    agent = settings_of(cluster, tmp_path)
    (container,) = pod(cluster)["containers"]
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}

    for path in (agent.token_file, agent.journal_file, agent.key_file):
        assert str(Path(str(path)).parent) == mounts["secrets"]
    # The image's own command.
    assert f'"{mounts["settings"]}/agent.toml"' in (DEPLOY / "docker/Dockerfile").read_text("utf-8")
    assert agent.listen == f"0.0.0.0:{ports['agent']}"
    assert agent.metrics == f"0.0.0.0:{ports['agent-metrics']}"


def test_a_rollout_takes_no_replica_before_another_is_there(
    cluster: list[Json], tmp_path: Path
) -> None:
    deployment = one("Deployment", "turnwire-agent", cluster)["spec"]
    spec = pod(cluster)
    (container,) = spec["containers"]
    budget = one("PodDisruptionBudget", "turnwire-agent", cluster)["spec"]
    prestop_s = container["lifecycle"]["preStop"]["sleep"]["seconds"]

    assert deployment["replicas"] == 2
    assert deployment["strategy"]["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}
    assert budget["maxUnavailable"] == 1
    needed = prestop_s + takes_s(settings_of(cluster, tmp_path))
    assert needed <= spec["terminationGracePeriodSeconds"] <= needed + 30
    for probe, path in (
        ("readinessProbe", READY),
        ("livenessProbe", HEALTH),
        ("startupProbe", HEALTH),
    ):
        assert container[probe]["httpGet"] == {"path": path, "port": "agent"}
    assert container["readinessProbe"]["timeoutSeconds"] > ANSWER_S


def test_only_gateways_and_prometheus_reach_its_pods(cluster: list[Json]) -> None:
    own = {"app.kubernetes.io/name": "turnwire-agent"}
    gateways = {"app.kubernetes.io/name": "turnwire"}
    policy = one("NetworkPolicy", "turnwire-agent", cluster)["spec"]
    way = one("NetworkPolicy", "turnwire", cluster)["spec"]["egress"][-1]
    service = one("Service", "turnwire-agent", cluster)["spec"]
    labels = one("Deployment", "turnwire-agent", cluster)["spec"]["template"]["metadata"]["labels"]

    asks, scrapes = policy["ingress"]
    assert asks["from"] == [{"podSelector": {"matchLabels": gateways}}]
    assert asks["ports"] == [{"protocol": "TCP", "port": "agent"}]
    assert scrapes["ports"] == [{"protocol": "TCP", "port": "agent-metrics"}]
    assert policy["podSelector"]["matchLabels"] == service["selector"] == own
    assert own.items() <= labels.items()
    assert service["type"] == "ClusterIP"
    assert [each["port"] for each in service["ports"]] == [8765]
    assert way["to"] == [{"podSelector": {"matchLabels": own}}]
    assert way["ports"] == [{"protocol": "TCP", "port": 8765}]
    monitor = one("ServiceMonitor", "turnwire-agent", cluster)["spec"]["selector"]["matchLabels"]
    metrics = one("Service", "turnwire-agent-metrics", cluster)
    assert monitor.items() <= metrics["metadata"]["labels"].items()


@pytest.fixture(name="unit")
def unit_(tmp_path: Path) -> Path:
    """The unit with a program that is here, and beside it the gateway's with its drop-in."""
    (tmp_path / "turnwire.service.d").mkdir()
    for name in (UNIT.name, "turnwire.service", "turnwire.service.d/agent.conf"):
        text = (DEPLOY / "systemd" / name).read_text(encoding="utf-8")
        here = re.sub(r"/opt/turnwire(-agent)?/bin/turnwire(-agent)?", program("true"), text)
        (tmp_path / name).write_text(here, encoding="utf-8")
    return tmp_path / UNIT.name


def test_systemd_knows_every_key(unit: Path) -> None:
    gateway = unit.with_name("turnwire.service")
    # It exits with 0 also where it has something to say.
    assert run([program("systemd-analyze"), "verify", unit, gateway]) == (0, "", "")

    drop_in = unit.with_name("turnwire.service.d") / "agent.conf"
    drop_in.write_text(drop_in.read_text().replace("LoadCredential=", "LoadCredentials="))
    unit.write_text(unit.read_text().replace("LimitNOFILE=", "LimitNOFILES="))
    _, _, errors = run([program("systemd-analyze"), "verify", unit, gateway])
    assert "LimitNOFILES" in errors
    assert "LoadCredentials" in errors


def test_little_is_exposed(unit: Path) -> None:
    rate = [program("systemd-analyze"), "security", "--offline=true", f"--threshold={EXPOSURE}"]

    code, out, _ = run([*rate, unit])
    assert code == 0, out

    bare = re.sub(r"(?m)^(Protect|Private|Restrict)\w+=.*$", "", unit.read_text())
    unit.write_text(bare)
    assert run([*rate, unit])[0] != 0


def test_the_unit_has_the_time_and_the_descriptors_that_it_needs() -> None:
    text = UNIT.read_text(encoding="utf-8")
    agent = from_file(DEPLOY / "systemd/agent.toml")

    def number(key: str) -> int:
        return int(re.findall(rf"^{key}=(\d+)$", text, re.MULTILINE)[0])

    assert takes_s(agent) <= number("TimeoutStopSec")
    assert number("LimitNOFILE") > 2 * agent.host.sockets
    # Each secret is a credential, and each credential is used.
    assert set(re.findall(r"^LoadCredential=(\w+):", text, re.MULTILINE)) == SECRETS
    assert set(re.findall(r"%d/(\w+)", text)) == SECRETS
