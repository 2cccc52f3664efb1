"""The older gateway is the one that we mean, and runs with the libraries of today's lock."""

import hashlib
import importlib.metadata
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from upgrade.older import SHA256, WHEEL, environ, ran

pytestmark = pytest.mark.sockets


def requirements() -> list[Requirement]:
    """What the wheel needs here, without its extras for those who work on it."""
    with zipfile.ZipFile(WHEEL) as archive:
        metadata = archive.read("turnwire-0.1.0.dist-info/METADATA").decode()
    asked = map(Requirement, Parser().parsestr(metadata).get_all("Requires-Dist", []))
    extras = ("", "redis", "otel")
    return [
        each
        for each in asked
        if not each.marker or any(each.marker.evaluate({"extra": extra}) for extra in extras)
    ]


def test_its_wheel_is_the_one_that_was_made() -> None:
    assert hashlib.sha256(WHEEL.read_bytes()).hexdigest() == SHA256


def test_the_libraries_of_today_are_what_it_needs() -> None:
    asked = requirements()

    assert {"starlette", "uvicorn", "websockets", "redis"} <= {each.name for each in asked}
    for each in asked:
        assert each.specifier.contains(importlib.metadata.version(each.name)), each


@pytest.mark.parametrize("which", ["older", "ours"])
def test_each_environment_has_its_own_gateway(older: Path, tmp_path: Path, which: str) -> None:
    code, place = ran(
        ("-c", "import turnwire; print(turnwire.__file__)"),
        environ({}, older if which == "older" else None),
        tmp_path,
    )

    assert code == 0
    assert Path(place).is_relative_to(older) is (which == "older")
