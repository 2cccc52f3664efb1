"""A certificate of nobody known."""

import subprocess
from pathlib import Path


def certificate(folder: Path) -> None:
    """For localhost, as the files `c` and `k` (its key)."""
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    made = ["openssl", "req", "-x509", *key, "-days", "2", *subject, "-keyout", "k", "-out", "c"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
