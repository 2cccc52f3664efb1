"""The address of an API is the operator's."""

from typing import Any

import pytest

from turnwire_agent.tools.contract import BadToolError
from turnwire_agent.tools.openapi.address import checked_address, document_address


def test_an_address_ends_before_the_paths_begin() -> None:
    assert checked_address("https://shop.example") == "https://shop.example"
    assert checked_address("http://127.0.0.1:8080/v1/") == "http://127.0.0.1:8080/v1"


@pytest.mark.parametrize(
    "url",
    [
        *("", "shop.example", "ftp://shop.example", "https://", "https://a:canary@shop.example"),
        *("https://shop.example?x=canary", "https://shop.example#x", "https://shop.example\\x"),
        *("https://shop.example:99999", "https://[x", "https://shop.example/ a", "http://a:0"),
    ],
)
def test_what_is_no_address_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(BadToolError) as refused:
        checked_address(url)

    assert "canary" not in str(refused.value)


def test_an_operator_who_trusts_the_document_takes_its_first_server() -> None:
    servers = [{"url": "https://shop.example/v1"}, {"url": "https://other.example"}]

    assert document_address({"servers": servers}) == "https://shop.example/v1"


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"servers": []},
        {"servers": ["https://shop.example"]},
        {"servers": [{}]},
        {"servers": [{"url": "https://{region}.shop.example"}]},
        {"servers": [{"url": "/v1"}]},
    ],
)
def test_a_document_without_one_has_none(document: Any) -> None:
    with pytest.raises(BadToolError):
        document_address(document)
