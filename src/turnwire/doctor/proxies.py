"""The supported proxies: how each is recognised, and its configuration line for each finding."""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from turnwire.doctor.findings import AILMENTS, Code, Finding


class Proxy(enum.Enum):
    NGINX = "nginx"
    HAPROXY = "haproxy"
    ENVOY = "envoy"
    CADDY = "caddy"
    TRAEFIK = "traefik"


_LINES: Final[Mapping[Code, Mapping[Proxy, str]]] = MappingProxyType(
    {
        Code.FIRST_BYTE_LATE: {
            Proxy.NGINX: "proxy_buffering off;",
            Proxy.HAPROXY: "option http-no-delay",
        },
        Code.BUFFERED: {
            Proxy.NGINX: "proxy_buffering off; gzip off;  (and no `proxy_ignore_headers"
            " X-Accel-Buffering`)",
            Proxy.HAPROXY: "no `compression`, no `filter` that waits for the response",
            Proxy.ENVOY: "no compressor, no `file_system_buffer` and no Lua that reads the body in"
            " `http_filters`",
            Proxy.CADDY: "no `response_buffers`, no `encode` for this route",
            Proxy.TRAEFIK: "no `buffering` and no `compress` middleware on the router",
        },
        Code.COALESCED: {
            Proxy.NGINX: "proxy_buffering off; gzip off;",
            Proxy.HAPROXY: "option http-no-delay",
            Proxy.CADDY: "no `encode` for this route",
            Proxy.TRAEFIK: "no `compress`; `responseForwarding.flushInterval: 1ms` where the"
            " content type is not text/event-stream",
        },
        Code.ENCODED: {
            Proxy.NGINX: "gzip off;",
            Proxy.HAPROXY: "no `compression algo`, or `compression type` without text/event-stream",
            Proxy.ENVOY: "no `envoy.filters.http.compressor` on the route",
            Proxy.CADDY: "no `encode` for this route",
            Proxy.TRAEFIK: "compress.excludedContentTypes: [text/event-stream]",
        },
        Code.CUT_IN_SILENCE: {
            Proxy.NGINX: "proxy_read_timeout 45s;",
            Proxy.HAPROXY: "timeout server 45s  and  timeout client 45s",
            Proxy.ENVOY: "stream_idle_timeout: 45s  (and `timeout: 0s` in the route)",
            Proxy.CADDY: "read_timeout 45s  in `transport http`",
            Proxy.TRAEFIK: "respondingTimeouts.writeTimeout: 0s",
        },
        Code.CUT_SHORT: {
            Proxy.NGINX: "nothing of it limits a whole response: error.log says who died",
            Proxy.HAPROXY: "timeout server 45s; `hard-stop-after` longer than a turn",
            Proxy.ENVOY: "timeout: 0s  in the route (the default ends every response after 15 s)",
            Proxy.CADDY: "no `write` in `timeouts`, no `stream_timeout`",
            Proxy.TRAEFIK: "respondingTimeouts.writeTimeout: 0s",
        },
        Code.REQUEST_ID: {
            Proxy.NGINX: "proxy_set_header X-Request-ID $http_x_request_id;  (no"
            " `proxy_hide_header X-Request-ID`)",
            Proxy.HAPROXY: "http-request set-header x-request-id %[unique-id] unless"
            " { req.hdr(x-request-id) -m found }",
            Proxy.ENVOY: "preserve_external_request_id: true",
            Proxy.CADDY: "no `header_up X-Request-ID`, no `header_down -X-Request-ID`",
        },
        Code.ABORT_LOST: {
            Proxy.NGINX: "proxy_ignore_client_abort off;",
            Proxy.HAPROXY: "option abortonclose  in `defaults`, not in a backend alone",
            Proxy.CADDY: "no `flush_interval -1`",
        },
        Code.UNAUTHORIZED: {
            Proxy.NGINX: "no `proxy_set_header Authorization` and no `auth_basic`",
        },
        Code.HTTP1_ONLY: {
            Proxy.NGINX: "listen 443 ssl http2;",
            Proxy.HAPROXY: "bind :443 ssl crt … alpn h2,http/1.1",
            Proxy.ENVOY: "alpn_protocols: [h2, http/1.1]",
        },
    }
)


def recognise_proxy(headers: Mapping[str, str]) -> Proxy | None:
    """The proxy that the response headers name. HAProxy and Traefik do not name themselves."""
    names = f"{headers.get('server', '')} {headers.get('via', '')}".lower()
    return next((proxy for proxy in Proxy if proxy.value in names), None)


def finding(code: Code, text: str, proxy: Proxy | None) -> Finding:
    """The finding for a symptom: its text, cause and remedies."""
    ailment = AILMENTS[code]
    lines = _LINES.get(code, {})
    own_lines = lines if proxy is None else {proxy: lines[proxy]} if proxy in lines else {}
    hints = tuple(f"{owner.value}: {line}" for owner, line in own_lines.items())
    mend = (ailment.mend, *hints) if proxy is None else (*hints, ailment.mend)
    return Finding(code, ailment.severity, text, ailment.cause, mend)
