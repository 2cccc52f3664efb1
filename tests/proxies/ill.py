"""The proxies of `deploy/` with one thing wrong: each edit is one that people make."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from chaos.fronts import Front, Haproxy, Nginx
from proxies.fronts import FRONTS, Caddy, Envoy, Traefik
from turnwire.doctor.findings import Code

_NGINX_GZIP: Final = "gzip on; gzip_types *; gzip_min_length 0;"
_NO_HEADER: Final = "proxy_ignore_headers X-Accel-Buffering;"
_TO_GATEWAY: Final = "lb_policy header X-Turnwire-Session\n"
_BODY: Final = "\t\trequest_body {"
_ENCODE: Final = """
		encode gzip {
			match status 200
		}
		request_body {"""
_ONCE_MORE: Final = "middlewares: [once-more]\n"
_RETRY: Final = "    once-more:\n"

_ILLS: Final[list[tuple[str, type[Front], Mapping[str, str], Code]]] = [
    (
        "nginx compresses everything",  # and says nothing before it has a block of it
        Nginx,
        {"proxy_buffering off;": f"proxy_buffering on; {_NO_HEADER}", "gzip off;": _NGINX_GZIP},
        Code.BUFFERED,
    ),
    (
        "nginx waits two seconds",
        Nginx,
        {"proxy_read_timeout    45s": "proxy_read_timeout 2s"},
        Code.CUT_IN_SILENCE,
    ),
    (
        "nginx goes on when its client has gone",
        Nginx,
        {"proxy_ignore_client_abort off": "proxy_ignore_client_abort on"},
        Code.ABORT_LOST,
    ),
    (
        "nginx strips headers",
        Nginx,
        {"proxy_cache off;": "proxy_hide_header Cache-Control; proxy_cache off;"},
        Code.TRANSFORMABLE,
    ),
    ("HAProxy delays", Haproxy, {"    option http-no-delay\n": ""}, Code.COALESCED),
    ("HAProxy does not look", Haproxy, {"    option abortonclose\n": ""}, Code.ABORT_LOST),
    (
        "HAProxy waits two seconds",
        Haproxy,
        {"timeout server  45s": "timeout server  2s"},
        Code.CUT_IN_SILENCE,
    ),
    (
        "Envoy ends responses",
        Envoy,
        {"                            timeout: 0s\n": "                            timeout: 2s\n"},
        Code.CUT_SHORT,
    ),
    (
        "Envoy waits two seconds",
        Envoy,
        {"stream_idle_timeout: 45s": "stream_idle_timeout: 2s"},
        Code.CUT_IN_SILENCE,
    ),
    (
        "Envoy renames requests",
        Envoy,
        {"preserve_external_request_id: true": "preserve_external_request_id: false"},
        Code.REQUEST_ID,
    ),
    (
        "Caddy holds back",
        Caddy,
        {_TO_GATEWAY: _TO_GATEWAY + "response_buffers 1MB\n"},
        Code.BUFFERED,
    ),
    (
        "Caddy compresses everything",
        Caddy,
        {_TO_GATEWAY: _TO_GATEWAY + "header_down -Cache-Control\n", _BODY: _ENCODE},
        Code.ENCODED,
    ),
    (
        "Traefik holds back",
        Traefik,
        {
            _ONCE_MORE: "middlewares: [hold, once-more]\n",
            _RETRY: f"    hold: {{ buffering: {{ maxRequestBodyBytes: 16777216 }} }}\n{_RETRY}",
        },
        Code.BUFFERED,
    ),
    ("Traefik ends responses", Traefik, {"writeTimeout: 0s": "writeTimeout: 2s"}, Code.CUT_SHORT),
]
ILLS: Final = [each for each in _ILLS if each[1] in FRONTS]


def ill(kind: type[Front], edits: Mapping[str, str]) -> type[Front]:
    """The same proxy with these edits, each of which must fit one of its files."""

    class Ill(kind):  # type: ignore[misc,valid-type]  # a base that is a value
        def _written(self, name: str, text: str, replaced: Mapping[str, str]) -> Path:
            for old, new in edits.items():
                self.fits |= {old} if old in text else set()
                text = text.replace(old, new)
            return super()._written(name, text, replaced)  # type: ignore[no-any-return]

        def command(self) -> list[str]:
            self.fits: set[str] = set()
            command: list[str] = super().command()
            assert self.fits == set(edits), edits.keys() - self.fits
            return command

    return Ill
