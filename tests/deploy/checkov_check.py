"""Hundreds of rules for manifests, by `make deploy-check`: the tool alone is 300 MB."""

import json
from pathlib import Path

import pytest

from deploy.parts import KUBERNETES, ROOT, as_json, manifests, run, tool

pytestmark = pytest.mark.timeout(180)


def test_checkov_finds_nothing_but_what_is_excepted(tmp_path: Path) -> None:
    checkov = tool("checkov", venv=ROOT / ".venv/checkov")
    rendered = tmp_path / "with-agent.json"
    rendered.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests("with-agent")})
    )
    config = KUBERNETES / "checkov.yaml"

    _, out, err = run(
        [checkov, "--config-file", config, "--file", rendered, "--output", "json"], cwd=tmp_path
    )

    found = as_json(out)
    assert [each["check_id"] for each in found["results"]["failed_checks"]] == [], err
    assert found["summary"]["passed"] > 80
