"""What the wheel depends on: ours of the same version, and the libraries of pyproject.toml.

An sdist has the answer in its PKG-INFO, and hatchling does not ask there.
"""

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Dependencies(MetadataHookInterface):
    """hatchling finds it by its base class."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the one dynamic field but the version, which hatchling has set."""
        project = tomllib.loads((Path(self.root) / "pyproject.toml").read_text(encoding="utf-8"))
        libraries = project["dependency-groups"]["libraries"]
        ours = [f"{name}=={metadata['version']}" for name in ("turnwire", "turnwire-agent")]
        metadata["dependencies"] = [*ours, *libraries]
