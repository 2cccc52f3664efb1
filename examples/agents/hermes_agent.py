"""Hermes as an agent behind both APIs of OpenAI: its gateway, with its API server alone.

    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 AGENT_MODEL=qwen3 AGENT_KEY=... \
        python hermes_agent.py --port 8000

Its tools run on this machine, its terminal among them. HERMES_HOME is the folder of its settings
and sessions: without it, a new one in the folder for temporary files. AGENT_KEY is what its clients
need, 16 characters or more.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

HOST = "127.0.0.1"


def settings() -> dict[str, object]:
    """Return what its `config.yaml` has. JSON is YAML, too."""
    model = {
        "provider": "custom",
        "base_url": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ.get("OPENAI_API_KEY", "none"),
        "default": os.environ.get("AGENT_MODEL", "small-1"),
    }
    # A failure is told, and its user may try again.
    return {"model": model, "agent": {"api_max_retries": 1}}


def main() -> None:
    """Answer at http://127.0.0.1:<port>/v1 until killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    home = Path(os.environ.get("HERMES_HOME") or tempfile.mkdtemp(prefix="hermes-"))
    (home / "config.yaml").write_text(json.dumps(settings()), encoding="utf-8")
    environ = {
        **os.environ,
        "HERMES_HOME": str(home),
        "API_SERVER_ENABLED": "true",
        "API_SERVER_HOST": HOST,
        "API_SERVER_PORT": str(port),
        "API_SERVER_KEY": os.environ["AGENT_KEY"],
    }
    program = Path(sys.executable).parent / "hermes"
    # It takes the place of this process: whoever ends that ends Hermes.
    os.execve(program, [str(program), "gateway", "run"], environ)  # noqa: S606 (no shell is needed)


if __name__ == "__main__":
    main()
