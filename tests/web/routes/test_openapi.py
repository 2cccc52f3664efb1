"""The OpenAPI document is valid, and true to the code."""

import inspect
import re

import msgspec
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.routing import Route

from gateway.asgi import Exchange
from gateway.running import settings
from turnwire import __version__, errors
from turnwire.errors import RequestRefused
from turnwire.web.app import create_app
from turnwire.web.routes import openapi
from turnwire.web.routes.openapi import document


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_it_is_a_valid_document(enabled: str) -> None:
    OpenAPIV31SpecValidator(document(settings(enabled=enabled))).validate()


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_it_has_exactly_the_routes_that_exist(enabled: str) -> None:
    given = settings(enabled=enabled)
    routes = {
        (route.path, method)
        for route in create_app(given).routes
        if isinstance(route, Route) and route.methods is not None
        for method in route.methods - {"HEAD"}
    }

    documented = {
        (path, method.upper())
        for path, methods in document(given)["paths"].items()
        for method in methods
    }

    assert documented == routes


def test_every_refusal_is_documented_somewhere_with_its_status() -> None:
    documented = {
        status
        for methods in document(settings())["paths"].values()
        for operation in methods.values()
        for status in operation["responses"]
    }

    assert {str(kind.status) for kind in RequestRefused.__subclasses__()} < documented
    assert {kind for kinds in openapi.REFUSALS.values() for kind in kinds} == set(
        RequestRefused.__subclasses__()
    )


@pytest.mark.parametrize(
    ("given", "scheme"),
    [
        ({}, {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}),
        (
            {"auth": "opaque", "access": "http", "access_url": "https://h/{session_id}"},
            {"type": "http", "scheme": "bearer"},
        ),
    ],
)
def test_it_says_what_a_token_is(given: dict[str, str], scheme: dict[str, str]) -> None:
    told = document(settings(**given))
    OpenAPIV31SpecValidator(told).validate()

    assert told["components"]["securitySchemes"] == {"token": scheme}


def test_every_refusal_on_the_page_of_errors_is_in_its_tree() -> None:
    page = inspect.getdoc(errors) or ""
    drawn = {(name, int(status)) for name, status in re.findall(r"-- (\w+) +(\d{3})", page)}

    assert drawn == {(kind.__name__, kind.status) for kind in RequestRefused.__subclasses__()}


async def test_it_is_served_uncached_with_the_version_that_runs() -> None:
    served = await Exchange(
        create_app(settings()), method="GET", path="/openapi.json", headers=[]
    ).run()

    assert served.status == 200
    assert served.headers["cache-control"] == "no-store"
    assert served.json["info"]["version"] == __version__
    assert served.json == msgspec.json.decode(msgspec.json.encode(document(settings())))
