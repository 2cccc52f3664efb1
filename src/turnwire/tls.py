"""TLS towards the agent: whom we trust, and who we are."""

import ssl
from pathlib import Path

from turnwire.settings import Settings


class BadCertificateError(ValueError):
    """A file is not what it should be. `field` is the setting that names it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def agent_tls(settings: Settings) -> ssl.SSLContext | None:
    """TLS towards the agent, where it is not the usual one.

    Raises:
        BadCertificateError: a file is not what it should be.

    """
    return client_context(
        agent_ca_file=settings.agent_ca_file,
        agent_cert_file=settings.agent_cert_file,
        agent_cert_key_file=settings.agent_cert_key_file,
    )


def client_context(
    *, agent_ca_file: str, agent_cert_file: str, agent_cert_key_file: str
) -> ssl.SSLContext | None:
    """Trusts the given authorities in place of the system's, and shows a certificate of ours.

    None if nothing is given. The files are read now, and not again.

    Raises:
        BadCertificateError: a file cannot be read, or holds something else.

    """
    files = {
        "agent_ca_file": agent_ca_file,
        "agent_cert_file": agent_cert_file,
        "agent_cert_key_file": agent_cert_key_file,
    }
    given = {field: file for field, file in files.items() if file}
    for field, file in given.items():
        try:
            with Path(file).open("rb") as opened:
                opened.read(1)
        except (OSError, ValueError) as exc:
            raise BadCertificateError(field, f"cannot be read ({type(exc).__name__})") from exc
    if not given:
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
            # With a password, though none: else OpenSSL would ask for it on the terminal.
            context.load_cert_chain(cert_file, cert_key_file or None, password="")
        except (OSError, ValueError) as exc:
            problem = "must hold a certificate in PEM; its key, unencrypted, goes with it"
            raise BadCertificateError("agent_cert_file", problem) from exc
    return context
