"""A model's server on loopback, that has its answers ready: it is faster than whoever reads.

`python -m turnwire_lab.bench.model_calls.server PORT`
"""

import sys
import time
from collections.abc import Sequence
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from turnwire_lab.bench.model_calls.answers import PATHS, Plan, plan_of, writes
from turnwire_lab.process import HOST


class _Handler(BaseHTTPRequestHandler):
    """One connection: it stays open from call to call."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        plan = plan_of(self.rfile.read(int(self.headers["content-length"])))
        wire = next((name for name, end in PATHS.items() if self.path.endswith(end)), None)
        if plan is None or wire is None:
            self.send_error(404)
            return
        pieces = _chunked(wire, plan)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for each in pieces:
            if plan.gap_us:
                time.sleep(plan.gap_us / 1e6)
            self.wfile.write(each)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@lru_cache(maxsize=8)
def _chunked(wire: str, plan: Plan) -> Sequence[bytes]:
    chunks = [b"%x\r\n%b\r\n" % (len(each), each) for each in writes(wire, plan)]
    return [*chunks, b"0\r\n\r\n"]


if __name__ == "__main__":
    ThreadingHTTPServer((HOST, int(sys.argv[1])), _Handler).serve_forever()
