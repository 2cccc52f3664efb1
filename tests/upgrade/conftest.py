from pathlib import Path

import pytest

from upgrade.older import install

pytest.register_assert_rewrite("upgrade.load")


@pytest.fixture(scope="session")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the older gateway is installed."""
    folder = tmp_path_factory.mktemp("older")
    install(folder)
    return folder
