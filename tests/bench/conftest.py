from pathlib import Path

import pytest

from gateway.needed import program
from turnwire_lab.bench.tools import Tools, tools


@pytest.fixture(scope="session")
def load_tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    """The tools, built from their sources."""
    return tools(compiler=program("cc"), cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path
