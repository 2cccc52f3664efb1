"""TLS of connections to the agent: trusted authorities, and the certificate of the gateway."""

import ssl
from pathlib import Path

from turnwire.config.settings import Settings


class BadCertificateError(ValueError):
    """A file has the wrong contents. `field` is the setting that names the file."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def agent_tls(settings: Settings) -> ssl.SSLContext | None:
    """Return the TLS context for the agent; None if the settings ask for the default one.

    Raises:
        BadCertificateError: a file cannot be read, or has the wrong contents.

    """
    return client_context(
        agent_ca_file=settings.agent_ca_file,
        agent_cert_file=settings.agent_cert_file,
        agent_cert_key_file=settings.agent_cert_key_file,
    )


def client_context(
    *, agent_ca_file: str, agent_cert_file: str, agent_cert_key_file: str
) -> ssl.SSLContext | None:
    """Return a context that trusts `agent_ca_file` instead of the system's authorities.

    It presents the certificate in `agent_cert_file` to the agent. Returns None if all paths are
    empty. The files are read only once, here.

    Raises:
        BadCertificateError: a file cannot be read, or has the wrong contents.

    """
    files = {
        "agent_ca_file": agent_ca_file,
        "agent_cert_file": agent_cert_file,
        "agent_cert_key_file": agent_cert_key_file,
    }
    paths = {field: path for field, path in files.items() if path}
    for field, path in paths.items():
        try:
            with Path(path).open("rb") as file:
                file.read(1)
        except (OSError, ValueError) as exc:
            raise BadCertificateError(field, f"cannot be read ({type(exc).__name__})") from exc
    if not paths:
        return None
    if not agent_cert_file and agent_cert_key_file:
        raise BadCertificateError("agent_cert_key_file", "there is no TURNWIRE_AGENT_CERT_FILE")
    return _context(agent_ca_file, agent_cert_file, agent_cert_key_file)


def _context(ca_file: str, cert_file: str, cert_key_file: str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ValueError) as exc:
        raise BadCertificateError("agent_ca_file", "must hold certificates in PEM") from exc
    if cert_file:
        try:
            # The empty password: without one, OpenSSL asks for it on the terminal.
            context.load_cert_chain(cert_file, cert_key_file or None, password="")
        except (OSError, ValueError) as exc:
            problem = "must hold a certificate in PEM; its key, unencrypted, goes with it"
            raise BadCertificateError("agent_cert_file", problem) from exc
    return context
