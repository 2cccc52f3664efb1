"""The operations of a document are tools, or are refused by the name of what is not supported."""

from typing import Any

import pytest

from runtime.tools.openapi.documents import (
    ID,
    TEXT,
    Json,
    converted,
    document,
    json_body,
    one,
    read,
)
from turnwire_agent.tools.contract import TOOLS_MAX, BadToolError, Effect
from turnwire_agent.tools.openapi.operations import openapi_operations
from turnwire_agent.tools.openapi.parameters import Parameter
from turnwire_agent.tools.openapi.policy import Policy
from turnwire_agent.tools.openapi.unsupported import UNSUPPORTED, Refusal

ORDER: Json = {"type": "object", "properties": {"item": TEXT}, "required": ["item"]}


def test_parameters_and_body_are_one_schema() -> None:
    change = {
        "operationId": "changeOrder",
        "summary": "Change an order.",
        "description": "All of it.",
        "parameters": [
            {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
            {"name": "X-Reason", "in": "header", "required": True, "schema": TEXT},
        ],
        "requestBody": json_body(ORDER),
    }
    path = {"parameters": [{**ID, "description": "Which."}], "put": change}

    (operation,) = converted({"/orders/{id}": path}, policy={"timeout_s": 9.0}).operations

    assert operation.name == "shop.changeOrder"
    assert (operation.method, operation.path) == ("PUT", "/orders/{id}")
    assert operation.description == "Change an order.\n\nAll of it."
    assert operation.schema == {
        "type": "object",
        "properties": {
            "id": {"description": "Which.", **TEXT},
            "dry": {"type": "boolean"},
            "X-Reason": TEXT,
            "body": ORDER,
        },
        "required": ["id", "X-Reason", "body"],
    }
    assert operation.parameters == (
        Parameter(argument="id", name="id", location="path", required=True),
        Parameter(argument="dry", name="dry", location="query", explode=True),
        Parameter(argument="X-Reason", name="X-Reason", location="header", required=True),
    )
    assert (operation.body, operation.body_type) == ("body", "application/json")
    assert (operation.effect, operation.timeout_s) == (Effect.ONCE, 9.0)


def test_a_name_is_that_of_the_operation_or_its_method_and_path() -> None:
    assert read({"operationId": "list"}).name == "shop.list"
    assert read({}).name == "shop.GET /orders"


@pytest.mark.parametrize(
    ("method", "keyed", "effect"),
    [
        ("get", False, Effect.SAFE),
        ("head", False, Effect.SAFE),
        ("post", False, Effect.ONCE),
        ("put", False, Effect.ONCE),
        ("patch", False, Effect.ONCE),
        ("delete", False, Effect.ONCE),
        ("put", True, Effect.KEYED),
        ("delete", True, Effect.KEYED),
        ("get", True, Effect.SAFE),
    ],
)
def test_what_changes_something_is_done_once_unless_the_operator_knows_better(
    method: str,
    keyed: bool,  # noqa: FBT001
    effect: Effect,
) -> None:
    policy: Json = {"keyed": frozenset({"do"})} if keyed else {}

    assert read({"operationId": "do"}, method=method, policy=policy).effect is effect


def test_the_operator_says_which_and_who_must_allow_them() -> None:
    paths = {
        "/a": {"get": {"operationId": "a"}, "post": {"operationId": "b"}},
        "/c": {"post": {"operationId": "c"}, "delete": {}},
    }
    policy = {
        "only": frozenset({"a", "b", "DELETE /c"}),
        "approval": "always",
        "approvals": {"DELETE /c": "never"},
        "slashes": True,
    }

    seen = converted(paths, policy=policy).operations

    assert [(each.name, each.approval) for each in seen] == [
        ("shop.a", "never"),
        ("shop.b", "always"),
        ("shop.DELETE /c", "never"),
    ]
    assert all(each.slashes for each in seen)


def test_the_key_of_a_call_takes_the_place_of_the_parameter() -> None:
    key = {"name": "Idempotency-Key", "in": "header", "required": True, "schema": TEXT}
    operation: Json = {"operationId": "pay", "parameters": [key]}

    keyed = read(operation, method="post", policy={"keyed": frozenset({"pay"})})

    assert keyed.parameters == ()
    reading = read(operation, policy={"keyed": frozenset({"pay"})})
    assert [each.name for each in reading.parameters] == ["Idempotency-Key"]
    assert [each.name for each in read(operation, method="post").parameters] == ["Idempotency-Key"]


def test_an_operation_overrides_the_parameters_of_its_path() -> None:
    path = {
        "parameters": [{"name": "page", "in": "query", "schema": TEXT}, {**ID, "in": "query"}],
        "get": {"parameters": [{"name": "page", "in": "query", "schema": {"type": "integer"}}]},
    }

    (operation,) = converted({"/orders": path}).operations

    assert operation.schema["properties"] == {"page": {"type": "integer"}, "id": TEXT}


def test_two_parameters_of_one_name_are_two_arguments() -> None:
    parameters = [ID, {**ID, "in": "query"}, {**ID, "name": "body", "in": "query"}]

    operation = read(
        {"parameters": parameters, "requestBody": json_body(ORDER)},
        path="/orders/{id}",
        method="post",
    )

    assert [each.argument for each in operation.parameters] == ["id", "id_query", "body"]
    assert operation.body == "body_json"
    parameters = [{**ID, "name": "id_query"}, ID, {**ID, "in": "query"}]
    operation = read({"parameters": parameters}, path="/{id}/{id_query}")
    arguments = [each.argument for each in operation.parameters]
    assert arguments == ["id_query", "id", "id_query_2"]


def test_headers_that_the_standard_takes_for_none_are_none() -> None:
    named = [{"name": name, "in": "header", "schema": TEXT} for name in ("Accept", "AUTHORIZATION")]

    assert read({"parameters": named}).parameters == ()


def test_references_lead_to_parameters_bodies_and_paths() -> None:
    components = {
        "parameters": {"Page": {"name": "page", "in": "query", "schema": TEXT}},
        "requestBodies": {"Order": json_body({"$ref": "#/components/schemas/Order"})},
        "schemas": {"Order": ORDER},
        "pathItems": {
            "Orders": {
                "post": {
                    "parameters": [{"$ref": "#/components/parameters/Page"}],
                    "requestBody": {"$ref": "#/components/requestBodies/Order"},
                }
            }
        },
    }

    seen = converted({"/orders": {"$ref": "#/components/pathItems/Orders"}}, components=components)

    assert seen.refusals == ()
    assert seen.operations[0].schema == {
        "type": "object",
        "properties": {"page": TEXT, "body": {"$ref": "#/$defs/Order"}},
        "required": ["body"],
        "$defs": {"Order": ORDER},
    }


def test_any_json_is_json() -> None:
    kinds = {
        "text/csv": {},
        "application/merge-patch+json; charset=utf-8": {"schema": ORDER},
    }
    operation = read({"requestBody": {"content": kinds}}, method="patch")

    assert operation.body_type == "application/merge-patch+json; charset=utf-8"
    assert operation.schema == {"type": "object", "properties": {"body": ORDER}}
    assert read({"requestBody": {"content": {"application/json": {}}}}, method="post").schema == {
        "type": "object",
        "properties": {"body": {}},
    }


def test_a_long_description_is_cut() -> None:
    operation = read({"summary": "x" * 20}, policy={"description_chars": 10})

    assert operation.description == "x" * 9 + "…"
    assert read({"summary": "One.", "description": "One."}).description == "One."


def parameter(**changed: Any) -> Json:
    named = {"name": "by", "in": "query", "required": True, "schema": TEXT, **changed}
    return {"parameters": [{name: each for name, each in named.items() if each is not None}]}


DEEP: Json = {}
for _ in range(80):
    DEEP = {"type": "object", "properties": {"x": DEEP}}

REFUSED: list[tuple[Json, Json, str]] = [
    ({"requestBody": json_body(TEXT, kind="multipart/form-data")}, {"method": "post"}, "body"),
    ({"requestBody": {"required": True}}, {"method": "post"}, "body"),
    ({"requestBody": json_body(ORDER)}, {"method": "get"}, "body-of-get"),
    (parameter(schema=None, content={"application/json": {}}), {}, "content-parameter"),
    (parameter(**{"in": "cookie"}), {}, "cookie"),
    (parameter(**{"in": "header", "name": "Host"}), {}, "header"),
    (parameter(**{"in": "header", "name": "X-API-Key"}), {}, "header"),
    (parameter(**{"in": "header", "name": "a: b"}), {}, "header"),
    ({}, {"method": "trace"}, "method"),
    ({}, {"method": "options"}, "method"),
    (parameter(style="deepObject"), {}, "object-parameter"),
    (parameter(schema=ORDER), {}, "object-parameter"),
    (parameter(schema={"type": ["object", "null"]}), {}, "object-parameter"),
    ({}, {"path": "/a/../b"}, "path"),
    ({}, {"path": "/a/%2E%2e/b"}, "path"),
    ({}, {"path": "//evil.example/a"}, "path"),
    ({}, {"path": "https://evil.example/a"}, "path"),
    ({}, {"path": "/a?b=c"}, "path"),
    ({}, {"path": "/a/{id}"}, "path"),
    ({"parameters": [ID]}, {}, "path"),
    ({"parameters": {}}, {}, "path"),
    (parameter(name=""), {}, "path"),
    (parameter(**{"in": "body"}), {}, "path"),
    ({"parameters": [{"$ref": "other.yaml#/x"}]}, {}, "reference"),
    ({"parameters": [{"$ref": "#/components/none"}]}, {}, "reference"),
    ({"parameters": [5]}, {}, "reference"),
    ({"requestBody": json_body({"$ref": "#Order"})}, {"method": "post"}, "reference"),
    (parameter(schema={"type": "array", "items": DEEP}), {}, "schema"),
    (parameter(schema={"type": "array", "items": {"type": "odd"}}), {}, "schema"),
    (parameter(schema={"$id": "x", "type": "string"}), {}, "schema"),
    (parameter(schema=[]), {}, "schema"),
    ({"security": [{"key": []}]}, {}, "security"),
    ({"servers": [{"url": "https://evil.example"}]}, {}, "server"),
    (parameter(style="pipeDelimited"), {}, "style"),
    (parameter(style="matrix", name="id", **{"in": "path"}), {"path": "/{id}"}, "style"),
]


@pytest.mark.parametrize(("operation", "others", "name"), REFUSED)
def test_what_is_not_supported_is_refused_by_its_name(
    operation: Json, others: Json, name: str
) -> None:
    seen = one({"operationId": "do", **operation}, **others)

    assert seen.operations == ()
    (refusal,) = seen.refusals
    assert (refusal.operation, refusal.name) == ("do", name)
    assert UNSUPPORTED[name] in refusal.why
    assert "\n" not in refusal.why


def test_each_thing_that_is_not_supported_is_tried() -> None:
    assert {name for _, _, name in REFUSED} == UNSUPPORTED.keys()


def test_one_that_is_refused_harms_no_other() -> None:
    seen = converted({"/a": {"get": {}, "trace": {}}, "/b": {"$ref": "other.yaml"}, "x-c": []})

    assert [each.name for each in seen.operations] == ["shop.GET /a"]
    assert [(each.operation, each.name) for each in seen.refusals] == [
        ("TRACE /a", "method"),
        ("GET /b", "reference"),
    ]


def test_a_path_that_is_none_is_refused() -> None:
    (refusal,) = converted({"/a": 5}).refusals

    assert refusal.name == "reference"


@pytest.mark.parametrize(
    ("operation", "method", "name"),
    [
        (parameter(required=False, **{"in": "cookie"}), "get", "cookie"),
        (parameter(required=None, style="deepObject"), "get", "object-parameter"),
        ({"requestBody": json_body(TEXT, required=False, kind="text/csv")}, "post", "body"),
        ({"requestBody": json_body(TEXT, required=False)}, "get", "body-of-get"),
    ],
)
def test_what_is_optional_is_left_out_and_that_is_told(
    operation: Json, method: str, name: str
) -> None:
    seen = one(operation, method=method)

    assert seen.operations[0].schema == {"type": "object", "properties": {}}
    assert (seen.operations[0].parameters, seen.operations[0].body) == ((), None)
    (refusal,) = seen.refusals
    assert refusal.name == name
    assert refusal.why.startswith("left out: ")


def test_the_first_of_a_name_stays() -> None:
    seen = converted({"/a": {"get": {"operationId": "x"}}, "/b": {"get": {"operationId": "x"}}})

    assert [each.path for each in seen.operations] == ["/a"]
    assert seen.refusals == (Refusal("x", "name", "another operation has its name"),)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ([], "no OpenAPI document"),
        ({"swagger": "2.0", "paths": {}}, "no OpenAPI document"),
        (document({}, "3.2.0"), "no OpenAPI document"),
        (document({}, "3.11.0"), "no OpenAPI document"),
        ({"openapi": "3.1.0", "paths": []}, "has no paths"),
        (document({f"/{n}": {} for n in range(5_001)}), "has no paths, or more than 5000"),
    ],
)
def test_what_is_no_document_is_refused(changed: Any, words: str) -> None:
    with pytest.raises(BadToolError, match=words):
        openapi_operations(changed, Policy(name="shop"))


def test_a_policy_speaks_of_operations_that_are_there() -> None:
    for policy in ({"only": frozenset({"x"})}, {"keyed": {"x"}}, {"approvals": {"x": "always"}}):
        with pytest.raises(BadToolError, match="there is no operation 'x'"):
            one({"operationId": "do"}, policy=policy)


def test_more_operations_than_an_agent_has_tools_must_be_chosen_from() -> None:
    paths: Json = {f"/{number}": {"get": {}} for number in range(TOOLS_MAX + 1)}

    with pytest.raises(BadToolError, match=f"more than {TOOLS_MAX} operations: name some"):
        converted(paths)
    assert len(converted(paths, policy={"only": frozenset({"GET /7"})}).operations) == 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [({"name": "a.b"}, "1 to 32 letters"), ({"timeout_s": 0}, "more than 0 seconds")],
)
def test_a_policy_that_cannot_be_is_refused(changed: Json, words: str) -> None:
    with pytest.raises(BadToolError, match=words):
        Policy(**{"name": "shop", **changed})


KEYS: Json = {
    "header": {"type": "apiKey", "in": "header", "name": "x"},
    "query": {"type": "apiKey", "in": "query", "name": "x"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "x"},
    "bearer": {"$ref": "#/components/securitySchemes/token"},
    "token": {"type": "http", "scheme": "bearer"},
    "mutual": {"type": "mutualTLS"},
}


@pytest.mark.parametrize(
    ("security", "possible"),
    [
        ([{"header": []}], True),
        ([{"bearer": []}], True),
        ([{"query": []}, {"bearer": []}], True),
        ([{"query": []}, {}], True),
        ([], True),
        ("odd", True),
        ([{"query": []}], False),
        ([{"bearer": [], "cookie": []}], False),
        ([{"mutual": []}], False),
        ([{"none": []}], False),
    ],
)
def test_a_credential_in_a_header_must_be_enough(security: Any, possible: bool) -> None:  # noqa: FBT001
    components = {"securitySchemes": KEYS}

    own = one({"security": security}, components=components)
    of_all = one({}, components=components, security=security)

    assert [bool(own.operations), bool(of_all.operations)] == [possible, possible]
