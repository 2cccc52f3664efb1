"""The Compose files follow the specification, and what they mount and start is there."""

import re
import shlex
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from deploy.parts import DEPLOY, ROOT, Json, compose, run, tool
from gateway.needed import program
from turnwire.config.settings import Settings

pytestmark = pytest.mark.timeout(180)  # some of these tools take seconds to start

FILES: Final = ("compose.yaml", "compose-agent.yaml")
CHECK: Final = ("--builtin-schema", "vendor.compose-spec")


@pytest.mark.parametrize("file", FILES)
def test_it_follows_the_specification(tmp_path: Path, file: str) -> None:
    broken = tmp_path / file
    text = (DEPLOY / file).read_text(encoding="utf-8")
    broken.write_text(text.replace("depends_on:", "depend_on:"), encoding="utf-8")

    code, out, _ = run([tool("check-jsonschema"), *CHECK, DEPLOY / file, broken])

    assert code == 1
    assert str(broken) in out
    assert str(DEPLOY / file) not in out, out


@pytest.mark.parametrize("name", ["gateway", "gateway2"])
@pytest.mark.parametrize("file", FILES)
def test_gateways_are_hardened_and_have_time_to_stop(file: str, name: str) -> None:
    gateway = compose(file)["services"][name]
    values = gateway["environment"]

    assert gateway["read_only"]
    assert gateway["cap_drop"] == ["ALL"]
    assert gateway["security_opt"] == ["no-new-privileges:true"]
    assert "ports" not in gateway
    takes_s = (
        float(values["TURNWIRE_LAMEDUCK_S"])
        + float(values["TURNWIRE_DRAIN_S"])
        + Settings().stall_s
        + 7
    )
    assert takes_s <= int(gateway["stop_grace_period"].removesuffix("s"))
    assert gateway["ulimits"]["nofile"]["soft"] > 2 * Settings().max_streams


@pytest.mark.parametrize("file", FILES)
def test_all_is_there_that_it_names(file: str) -> None:
    given = compose(file)
    stages = re.findall(
        r"^FROM .* AS (\S+)$", (DEPLOY / "docker/Dockerfile").read_text("utf-8"), re.MULTILINE
    )

    for name, service in given["services"].items():
        if build := service.get("build"):
            assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
            assert build["target"] in stages
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            assert source in given["volumes"] or (DEPLOY / source).exists(), mount
        assert set(service["networks"]) <= given["networks"].keys()
        assert set(service.get("depends_on", ())) <= given["services"].keys()
        assert set(service.get("secrets", ())) <= given.get("secrets", {}).keys()
        assert service["read_only"]
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        # Nothing is offered to other machines.
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name


@pytest.mark.parametrize("file", FILES)
def test_nginx_starts_with_its_file_and_the_gateways_in_it(tmp_path: Path, file: str) -> None:
    shell = compose(file)["services"]["nginx"]["command"][-1]
    words: list[Any] = shlex.split(shell.partition(">")[0])
    assert words.pop() == "/turnwire.conf"

    code, out, _ = run([*words, DEPLOY / "nginx/turnwire.conf"])

    assert code == 0
    assert re.findall(r"^ +server (\S+:\d+)", out, re.MULTILINE) == [
        "gateway:8787",
        "gateway2:8787",
    ]
    # It cannot look these names up here; all else it can check.
    local = re.sub(r"gateway2?:", "127.0.0.1:", out)
    conf = tmp_path / "nginx.conf"
    conf.write_text(f"pid {tmp_path}/pid; events {{ }} http {{ access_log off; {local} }}")
    code, _, err = run([program("nginx"), "-t", "-q", "-e", "stderr", "-p", tmp_path, "-c", conf])
    assert code == 0, err


def test_prometheus_takes_its_file_which_is_that_of_the_dashboards_but_for_its_targets() -> None:
    ours, shown = (
        msgspec.yaml.decode((ROOT / folder / "prometheus.yml").read_bytes(), type=Json)
        for folder in ("deploy", "dashboards")
    )
    for each in (ours, shown):
        (job,) = each["scrape_configs"]
        (told,) = job["static_configs"]
        ports = {target.rpartition(":")[2] for target in told.pop("targets")}
        assert ports == {str(Settings().metrics_port)}
    assert ours == shown
    # The rules are looked for beside the configuration.
    mounts = [mount.split(":")[:2] for mount in compose()["services"]["prometheus"]["volumes"]]
    assert ["../dashboards/rules", "/etc/prometheus/rules"] in mounts
    assert ["./prometheus.yml", "/etc/prometheus/prometheus.yml"] in mounts
    scraped = (DEPLOY / "prometheus.yml").read_text(encoding="utf-8")

    code, out, err = run([program("promtool"), "check", "config", DEPLOY / "prometheus.yml"])

    assert code == 0, out + err
    for name in ("gateway", "gateway2"):
        assert f"{name}:{Settings().metrics_port}" in scraped


def test_a_secret_of_deploy_is_never_committed_nor_sent_to_the_builder() -> None:
    code, _, _ = run(["git", "check-ignore", "deploy/secrets/jwt_key"])
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()

    assert code == 0
    assert ignored[1] == "*"
    assert not [line for line in ignored if line.startswith("!deploy") and "secrets" in line]
