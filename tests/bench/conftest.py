import shutil
from pathlib import Path

import pytest

from gateway.needed import lacking
from turnwire_lab.bench.tools import Tools, tools


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """The tools, built from their sources."""
    if shutil.which("cc") is None:
        lacking("there is no C compiler (`make system` installs one)")
    return tools(compiler="cc", cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def python() -> Tools:
    return tools(compiler="no-such-compiler")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
