"""A request goes where its operation says, whatever the arguments are."""

from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.tools.openapi.documents import ID, TEXT, Json, json_body, read
from turnwire_agent.tools.contract import ToolFailed
from turnwire_agent.tools.openapi.request import HttpRequest, request_of


def query(**changed: Any) -> Json:
    return {"parameters": [{"name": "tag", "in": "query", "schema": {}, **changed}]}


def target(operation: Json, path: str = "/orders", **arguments: Any) -> str:
    return request_of(read(operation, path=path), arguments).target


def test_a_request_has_all_of_its_parts() -> None:
    parameters = [
        ID,
        {"name": "dry run", "in": "query", "schema": {"type": "boolean"}},
        {"name": "X-Reason", "in": "header", "schema": TEXT},
        {"name": "X-Other", "in": "header", "schema": TEXT},
    ]
    operation = read(
        {"parameters": parameters, "requestBody": json_body({})}, path="/orders/{id}", method="put"
    )
    arguments = {"id": "a b", "dry run": True, "X-Reason": " none ", "body": {"ä": [1, None]}}

    assert request_of(operation, arguments) == HttpRequest(
        "PUT",
        "/orders/a%20b?dry%20run=true",
        {"X-Reason": "none", "content-type": "application/json"},
        '{"ä":[1,null]}'.encode(),
    )


def test_without_its_optional_arguments_it_has_neither_query_nor_body() -> None:
    operation = read({**query(), "requestBody": json_body({}, required=False)}, method="post")

    assert request_of(operation, {"tag": None}) == HttpRequest("POST", "/orders", {})


def test_a_body_may_be_null() -> None:
    operation = read({"requestBody": json_body({})}, method="post")

    assert request_of(operation, {"body": None}).body == b"null"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("a&b=c", "tag=a%26b%3Dc"),
        ("ä/?#", "tag=%C3%A4%2F%3F%23"),
        (True, "tag=true"),
        (False, "tag=false"),
        (5, "tag=5"),
        (0.5, "tag=0.5"),
        ("", "tag="),
        (["a,b", 1], "tag=a%2Cb&tag=1"),
        ([], ""),
    ],
)
def test_values_of_a_query(value: Any, written: str) -> None:
    assert target(query(), tag=value) == f"/orders{'?' if written else ''}{written}"


def test_a_list_may_be_one_parameter() -> None:
    assert target(query(explode=False), tag=["a,b", 1]) == "/orders?tag=a%2Cb,1"
    many = {"parameters": [{**ID, "schema": {"type": "array"}}]}
    assert target(many, "/orders/{id}", id=["a", "b"]) == "/orders/a%2Cb"


def test_what_is_no_text_cannot_be_written() -> None:
    for value in ({"a": 1}, [[1]], [None]):
        with pytest.raises(ToolFailed, match="`tag` is a text, a number, or a list of them"):
            target(query(), tag=value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("..", "neither empty"),
        (".", "neither empty"),
        ("", "neither empty"),
        ([], "neither empty"),
        ("../admin", "neither empty"),
        ("a/../../admin", "neither empty"),
        ("a\\..\\admin", "neither empty"),
        ("a/", "neither empty"),
        ("a/b", "has no slash"),
        ("a\\b", "has no slash"),
        ("a\nb", "no control characters"),
        ("a\0", "no control characters"),
    ],
)
def test_a_parameter_of_a_path_does_not_leave_its_segment(value: Any, words: str) -> None:
    with pytest.raises(ToolFailed, match=words) as failed:
        target({"parameters": [ID]}, "/orders/{id}", id=value)

    assert "`id` is a part of a path" in str(failed.value)
    assert "admin" not in str(failed.value)


def test_two_dots_from_two_parameters_are_two_dots() -> None:
    parameters = [ID, {**ID, "name": "kind"}]
    with pytest.raises(ToolFailed, match="`id`, `kind` is a part of a path"):
        target({"parameters": parameters}, "/orders/{id}{kind}", id=".", kind=".")
    assert target({"parameters": parameters}, "/o/{id}.{kind}", id="a", kind="..") == "/o/a..."


def test_an_operator_may_allow_slashes_but_no_step() -> None:
    operation = read({"parameters": [ID]}, path="/files/{id}", policy={"slashes": True})

    assert request_of(operation, {"id": "a/b"}).target == "/files/a%2Fb"
    with pytest.raises(ToolFailed, match="neither empty"):
        request_of(operation, {"id": "a/../b"})


@given(st.text(), st.text(), st.booleans())
def test_whatever_the_values_are_the_path_has_the_segments_of_its_operation(
    first: str,
    second: str,
    slashes: bool,  # noqa: FBT001
) -> None:
    parameters = [ID, {**ID, "name": "of"}, {"name": "q", "in": "query", "schema": TEXT}]
    operation = read(
        {"parameters": parameters}, path="/a/{id}/b/x{of}", policy={"slashes": slashes}
    )
    try:
        request = request_of(operation, {"id": first, "of": second, "q": second})
    except ToolFailed:
        return

    url = httpx.URL("https://shop.example/v1" + request.target)
    path, _, rest = url.raw_path.decode().partition("?")
    assert (url.scheme, url.host, url.userinfo, url.fragment) == ("https", "shop.example", b"", "")
    segments = path.split("/")
    assert segments[:3] == ["", "v1", "a"]
    assert segments[4] == "b"
    assert len(segments) == 6
    assert not {"", ".", ".."} & {unquote(each) for each in segments[1:]}
    assert rest.count("=") == 1
    assert "&" not in rest
    if not slashes:
        assert unquote(path).count("/") == 5


def test_a_header_stays_one_header() -> None:
    operation = {"parameters": [{"name": "X-A", "in": "header", "schema": TEXT}]}
    for value in ("a\r\nHost: evil", "a\n", "ä", "\x7f"):
        with pytest.raises(ToolFailed, match="`X-A` is a header: visible ASCII") as failed:
            request_of(read(operation), {"X-A": value})
        assert "evil" not in str(failed.value)


def test_a_target_has_a_bound() -> None:
    assert target(query(), tag="x" * 7_900)
    with pytest.raises(ToolFailed, match="too long for an address"):
        target(query(), tag="x" * 8_000)


def test_a_request_is_not_shown() -> None:
    operation = read(query())

    assert "canary" not in repr(request_of(operation, {"tag": "canary"}))
