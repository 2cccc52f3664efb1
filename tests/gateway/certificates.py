"""Certificates for tests, made by the `openssl` of this machine."""

import ssl
import subprocess
from pathlib import Path


def openssl(*arguments: str, within: Path) -> None:
    subprocess.run(["openssl", *arguments], cwd=within, check=True, capture_output=True)


def authority_and_agent(folder: Path) -> None:
    """Make an authority (`ca.pem`), and a certificate for `localhost` that it signed."""
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl(
        *("req", "-x509", *key, "-days", "2", "-subj", "/CN=An authority for tests"),
        *("-keyout", "ca.key", "-out", "ca.pem"),
        within=folder,
    )
    openssl(
        *("req", *key, "-subj", "/CN=localhost", "-keyout", "agent.key", "-out", "agent.csr"),
        within=folder,
    )
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    openssl(
        *("x509", "-req", "-in", "agent.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2"),
        *("-CAcreateserial", "-extfile", "names", "-out", "agent.pem"),
        within=folder,
    )


def of_agent(folder: Path) -> ssl.SSLContext:
    """The agent's side."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "agent.pem", folder / "agent.key")
    return context


def trusting(folder: Path) -> ssl.SSLContext:
    """The side of a client that trusts the authority."""
    return ssl.create_default_context(cafile=str(folder / "ca.pem"))
