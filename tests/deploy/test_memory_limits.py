"""What the default settings let a process take fits the limits that deploy/ gives it."""

import re

import msgspec
import pytest

from deploy.parts import DEPLOY, compose, env_file
from turnwire.config.environ import from_environ
from turnwire.config.settings import Settings
from turnwire_lab.docs.memory import MIB, SHARE, most_workers, needed_bytes

GIB = 1024 * MIB
UNITS = {"m": MIB, "g": GIB, "mi": MIB, "gi": GIB}


def in_bytes(limit: str) -> int:
    found = re.fullmatch(r"(\d+)([a-z]+)", limit.lower())
    assert found is not None, limit
    return int(found[1]) * UNITS[found[2]]


def limits() -> dict[str, int]:
    """Read from the files as they are, without the tools that put them together."""
    unit = (DEPLOY / "systemd/turnwire.service").read_text(encoding="utf-8")
    pod = (DEPLOY / "kubernetes/base/deployment.yaml").read_text(encoding="utf-8")
    found = {
        "systemd": re.findall(r"^MemoryMax=(\w+)$", unit, re.MULTILINE),
        "kubernetes": re.findall(r"limits: \{memory: (\w+)\}", pod),
        "compose": [compose()["services"]["gateway"]["mem_limit"]],
    }
    assert all(len(each) == 1 for each in found.values()), found
    return {name: in_bytes(one) for name, (one,) in found.items()}


def variables() -> dict[str, dict[str, str]]:
    """What each way sets that memory depends on."""
    pods = "".join(
        path.read_text(encoding="utf-8") for path in (DEPLOY / "kubernetes").rglob("*.yaml")
    )
    environment = compose()["services"]["gateway"]["environment"]
    names = r"TURNWIRE_(?:MAX_STREAMS|HELD_BYTES|FRAME_BYTES|BODY_BYTES)"
    return {
        "systemd": env_file(DEPLOY / "systemd/turnwire.env"),
        "kubernetes": dict(re.findall(rf'({names}): "?(\d+)"?', pods)),
        "compose": {name: str(value) for name, value in environment.items()},
    }


@pytest.mark.parametrize("way", ["systemd", "kubernetes", "compose"])
def test_a_process_fits_its_limit_with_room_to_spare(way: str) -> None:
    found = {
        name: value
        for name, value in variables()[way].items()
        if re.fullmatch(r"TURNWIRE_(MAX_STREAMS|HELD_BYTES|FRAME_BYTES|BODY_BYTES)", name)
    }
    settings = from_environ(found)

    assert needed_bytes(settings) <= limits()[way] * SHARE


def test_none_of_them_starts_several_workers_in_one_limit() -> None:
    """Each worker would take as much again."""
    for path in DEPLOY.rglob("*"):
        if path.is_file() and "secrets" not in path.parts:
            assert "--workers" not in path.read_text(encoding="utf-8"), path


def test_more_of_anything_needs_more() -> None:
    settings = Settings()
    for name in ("held_bytes", "max_streams", "frame_bytes"):
        more = msgspec.structs.replace(settings, **{name: getattr(settings, name) * 2})
        assert needed_bytes(more) > needed_bytes(settings), name
    assert most_workers(2 * GIB, settings) == 2 * most_workers(GIB, settings)
