"""LiteLLM's proxy before one model: both APIs of OpenAI for whatever host the model has.

    OPENAI_BASE_URL=http://127.0.0.1:11434/v1 AGENT_MODEL=qwen3 AGENT_KEY=sk-... \
        python litellm_agent.py --port 8000

It is no agent: nobody runs the tools that its model calls, unless the proxy is given MCP servers.
AGENT_KEY is what its clients need; LiteLLM refuses to start with a weak one.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

HOST = "127.0.0.1"


def settings() -> dict[str, object]:
    """Return what its configuration has. JSON is YAML, too."""
    name = os.environ.get("AGENT_MODEL", "small-1")
    model = {
        "model": f"openai/{name}",
        "api_base": os.environ["OPENAI_BASE_URL"],
        "api_key": os.environ.get("OPENAI_API_KEY", "none"),
    }
    return {
        "model_list": [{"model_name": name, "litellm_params": model}],
        "general_settings": {"master_key": os.environ["AGENT_KEY"]},
        # The gateway says to its client when to try again.
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }


def main() -> None:
    """Answer at http://127.0.0.1:<port>/v1 until killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    file = Path(tempfile.mkdtemp(prefix="litellm-")) / "config.yaml"
    file.write_text(json.dumps(settings()), encoding="utf-8")
    program = Path(sys.executable).parent / "litellm"
    command = [str(program), "--config", str(file), "--host", HOST, "--port", str(port)]
    # It takes the place of this process: whoever ends that ends the proxy.
    os.execv(program, command)  # noqa: S606 (no shell is needed)


if __name__ == "__main__":
    main()
