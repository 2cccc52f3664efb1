"""Live, ready, and what is not served on the public port."""

import pytest

from gateway.asgi import Exchange
from gateway.running import settings
from turnwire.web.app import create_app
from turnwire.web.health import Health


@pytest.mark.parametrize(("ready", "status"), [(True, 200), (False, 503)])
async def test_readiness_follows_the_gateway_and_liveness_does_not(
    ready: bool,  # noqa: FBT001 (a table's column)
    status: int,
) -> None:
    health = Health()
    health.is_ready = ready
    app = create_app(settings(enabled="false"), health=health)

    readyz = await Exchange(app, method="GET", path="/readyz").run()
    healthz = await Exchange(app, method="GET", path="/healthz").run()

    assert (readyz.status, healthz.status) == (status, 200)
    assert readyz.headers["cache-control"] == healthz.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/metrics", "/docs", "/redoc", "/.env", "/healthz/"])
async def test_nothing_else_is_there(path: str) -> None:
    done = await Exchange(create_app(settings()), method="GET", path=path).run()

    assert done.status == 404
    assert done.json["code"] == "not_found"
