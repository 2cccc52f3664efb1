"""Every TURNWIRE_* variable in deploy/ is one of ours, and each set of them passes the check."""

import re
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import DEPLOY, compose, env_file, manifests, of_unit
from gateway.process import command
from turnwire.config.settings import LAB_PREFIX, SECRETS, Settings, variable

pytestmark = pytest.mark.timeout(180)

KEY: Final = "a-key-of-a-test-that-has-32-bytes-or-more"
SIGNING: Final = "another-key-of-a-test-of-32-bytes-or-more"

KNOWN: Final = (
    {variable(field) for field in Settings.__struct_fields__}
    | {f"{variable(field)}_FILE" for field in SECRETS}
    | {"TURNWIRE_PORT_8787_TCP"}  # in a comment that says what must not be
)


def test_no_file_names_a_variable_that_is_none() -> None:
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in DEPLOY.rglob("*")
        if path.is_file() and "secrets" not in path.parts
    }
    named = {
        (name, str(path.relative_to(DEPLOY)))
        for path, text in texts.items()
        for name in re.findall(r"\bTURNWIRE_[A-Z0-9_]+\b(?!\*)", text)
        if not name.startswith(LAB_PREFIX)
    }

    assert len(named) > 20
    assert {(name, path) for name, path in named if name not in KNOWN} == set()


def sets(folder: Path) -> dict[str, dict[str, str]]:
    """Each way's variables, with its files of secrets in a folder."""
    kubernetes: dict[str, dict[str, str]] = {}
    for overlay in ("base", "production", "with-agent"):
        (kubernetes[overlay],) = (
            each["data"]
            for each in manifests(overlay)
            if each["kind"] == "ConfigMap" and "TURNWIRE_ENABLED" in each["data"]
        )
    systemd = env_file(DEPLOY / "systemd/turnwire.env") | of_unit("turnwire.service")
    found = {
        "compose": compose()["services"]["gateway"]["environment"],
        "compose-agent": compose("compose-agent.yaml")["services"]["gateway"]["environment"],
        "systemd": systemd,
        "systemd-agent": systemd | of_unit("turnwire.service.d/agent.conf"),
        **kubernetes,
    }
    algorithm_key = {"ES256": PUBLIC}
    for name, values in found.items():
        key = algorithm_key.get(values.get("TURNWIRE_JWT_ALGORITHM", ""), KEY)
        secrets = {"jwt_key": key, "signing_keys": SIGNING, "agent_token": "a-token-of-a-test"}
        for variable_of in [each for each in values if each.endswith("_FILE")]:
            path = folder / name / Path(values[variable_of]).name
            path.parent.mkdir(exist_ok=True)
            path.write_text(secrets[path.name], encoding="utf-8")
            values[variable_of] = str(path)
    return found


PUBLIC: Final = """-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----
"""


@pytest.mark.sockets
async def test_each_set_passes_the_check_and_is_turned_on(tmp_path: Path) -> None:
    for name, values in sets(tmp_path).items():
        code, out, err = await command("check", env=values)

        # Below it stands whose ports are in use on this machine.
        assert (code, out.splitlines()[0], err) == (0, "The settings are fine.", ""), name


def test_where_there_are_several_processes_no_session_is_said_to_be_in_one(tmp_path: Path) -> None:
    said = {name: values.get("TURNWIRE_SESSIONS") for name, values in sets(tmp_path).items()}

    several = ("compose", "compose-agent", "base", "production", "with-agent")
    assert said == {"systemd": None, "systemd-agent": None} | dict.fromkeys(several, "apart")


@pytest.mark.sockets
async def test_what_service_links_would_inject_is_refused(tmp_path: Path) -> None:
    linked = {
        "TURNWIRE_SERVICE_HOST": "10.0.0.1",
        "TURNWIRE_SERVICE_PORT_HTTP": "80",
        "TURNWIRE_PORT": "tcp://10.0.0.1:80",
        "TURNWIRE_PORT_80_TCP": "tcp://10.0.0.1:80",
    }

    code, _, said = await command("check", env=sets(tmp_path)["production"] | linked)

    assert code == 1
    assert {line.split(":")[1].strip() for line in said.splitlines()} == set(linked)
    for overlay in ("base", "production"):
        (deployment,) = (each for each in manifests(overlay) if each["kind"] == "Deployment")
        assert deployment["spec"]["template"]["spec"]["enableServiceLinks"] is False
