"""Exit 0 if the server of this container answers `/healthz`. Needs nothing but Python.

Without an argument it is the gateway, where its variables say. The argument is the port of another.
"""

import http.client
import os
import sys

_HERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (asked, not listened on)


def main() -> int:
    """Ask once. A proxy of the environment is not used, since `http.client` knows of none."""
    host = os.environ.get("TURNWIRE_HOST", "127.0.0.1")
    port = int(sys.argv[1] if sys.argv[1:] else os.environ.get("TURNWIRE_PORT", "8787"))
    connection = http.client.HTTPConnection(_HERE.get(host, host), port, timeout=2)
    try:
        connection.request("GET", "/healthz")
        return 0 if connection.getresponse().status == http.client.OK else 1
    except (OSError, http.client.HTTPException):
        return 1


if __name__ == "__main__":
    sys.exit(main())
