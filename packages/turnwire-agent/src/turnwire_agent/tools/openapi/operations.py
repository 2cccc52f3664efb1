"""The operations of a document, each with one schema of all its arguments."""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from turnwire_agent.tools.contract import TOOLS_MAX, Approval, BadToolError, Effect
from turnwire_agent.tools.openapi import parameters
from turnwire_agent.tools.openapi.parameters import Parameter
from turnwire_agent.tools.openapi.policy import Policy
from turnwire_agent.tools.openapi.references import Json, resolved
from turnwire_agent.tools.openapi.schemas import Schemas
from turnwire_agent.tools.openapi.security import check_security
from turnwire_agent.tools.openapi.unsupported import Refusal, UnsupportedError
from turnwire_agent.tools.schema.form import BadSchemaError, check

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

READING: Final = frozenset({"GET", "HEAD"})
PATHS_MAX: Final = 5_000
"""Most paths of a document."""

_METHODS: Final = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
_VERSION: Final = re.compile(r"3\.[01](\..*)?")
_JSON: Final = re.compile(r"application/(json|[\w.+-]+\+json)\s*(;.*)?", re.IGNORECASE)
_PATH: Final = re.compile(r"(/[^/?#\s\\]*)+")
_HOLE: Final = re.compile(r"\{([^{}]+)\}")
_CUT: Final = "…"


class HttpOperation(Struct, frozen=True, kw_only=True):
    """One operation: all that a tool and its request need."""

    name: str
    """Of the tool: `api.operationId`, or `api.GET /path`."""
    method: Method
    path: str
    """With holes, as `/orders/{id}`: below the address of the server."""
    parameters: tuple[Parameter, ...] = ()
    body: str | None = None
    """The argument that is the body; None: there is none."""
    body_type: str = "application/json"
    schema: Json
    """Of all arguments, as one object."""
    description: str = ""
    effect: Effect = Effect.ONCE
    approval: Approval = "never"
    timeout_s: float
    slashes: bool = False


class Converted(Struct, frozen=True):
    """What a document has."""

    operations: tuple[HttpOperation, ...]
    refusals: tuple[Refusal, ...] = ()


def openapi_operations(document: Any, policy: Policy) -> Converted:
    """Read the operations of an OpenAPI document, 3.0 or 3.1, that is JSON already.

    What is not supported is a refusal, and harms no other operation. No address is taken from it.

    Raises:
        BadToolError: it is no such document, or the policy speaks of an operation that it does not
            have. In one line.
    """
    if not isinstance(document, dict) or not _VERSION.fullmatch(str(document.get("openapi", ""))):
        raise BadToolError(f"API {policy.name!r}: this is no OpenAPI document, 3.0 or 3.1")
    paths = document.get("paths", {})
    if not isinstance(paths, dict) or len(paths) > PATHS_MAX:
        raise BadToolError(f"API {policy.name!r}: it has no paths, or more than {PATHS_MAX}")
    operations, refusals, known = dict[str, HttpOperation](), list[Refusal](), set[str]()
    for path, method, item, found in _found(document, paths):
        own = found.get("operationId")
        name = own if isinstance(own, str) and own else f"{method.upper()} {path}"
        known.add(name)
        if policy.only is not None and name not in policy.only:
            continue
        reader = _Reader(document, policy, name, path, method)
        try:
            operation = reader.operation(item, found)
        except UnsupportedError as exc:
            refusals.append(Refusal(name, exc.name, str(exc)))
            continue
        refusals += reader.left_out
        if operation.name in operations:
            refusals.append(Refusal(name, "name", "another operation has its name"))
        elif len(operations) == TOOLS_MAX:
            raise BadToolError(f"API {policy.name!r}: more than {TOOLS_MAX} operations: name some")
        else:
            operations[operation.name] = operation
    if missing := sorted(policy.named - known):
        raise BadToolError(f"API {policy.name!r}: there is no operation {missing[0]!r}")
    return Converted(tuple(operations.values()), tuple(refusals))


def _found(document: Json, paths: Json) -> Iterator[tuple[str, str, Json, Json]]:
    """Path, method, the object of the path and that of the operation."""
    for path, entry in paths.items():
        if path.startswith("x-"):
            continue
        try:
            item = resolved(document, entry, "a path")
        except UnsupportedError:
            item = {"get": {"$ref": entry.get("$ref") if isinstance(entry, dict) else None}}
        for method in _METHODS:
            if isinstance(item.get(method), dict):
                yield path, method, item, item[method]


class _Reader:
    """Reads one operation."""

    def __init__(self, document: Json, policy: Policy, name: str, path: str, method: str) -> None:
        self._document = document
        self._policy = policy
        self._name = name
        self._path = path
        self._method = method.upper()
        self._schemas = Schemas(document, is_3_0=str(document["openapi"]).startswith("3.0"))
        self.left_out: list[Refusal] = []

    def operation(self, item: Json, found: Json) -> HttpOperation:
        """Raise UnsupportedError for the first thing without which it cannot be called."""
        if self._method in ("OPTIONS", "TRACE"):
            raise UnsupportedError("method", self._method)
        if "$ref" in found:
            raise UnsupportedError("reference", f"its path is `$ref` {str(found['$ref'])[:80]!a}")
        if item.get("servers") or found.get("servers"):
            raise UnsupportedError("server", "it has `servers`")
        check_security(self._document, found)
        properties: Json = {}
        required: list[str] = []
        read = self._parameters(item, found, properties, required)
        self._check_path({each.name for each in read if each.location == "path"})
        body, body_type = self._body(found, properties, required)
        schema: Json = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if definitions := self._schemas.definitions():
            schema["$defs"] = definitions
        try:
            check(schema)
        except BadSchemaError as exc:
            raise UnsupportedError("schema", str(exc)) from exc
        return HttpOperation(
            name=f"{self._policy.name}.{self._name}",
            method=self._method,  # type: ignore[arg-type]  # one of _METHODS
            path=self._path,
            parameters=tuple(read),
            body=body,
            body_type=body_type,
            schema=schema,
            description=self._description(found),
            effect=self._effect(),
            approval=self._approval(),
            timeout_s=self._policy.timeout_s,
            slashes=self._policy.slashes,
        )

    def _parameters(
        self, item: Json, found: Json, properties: Json, required: list[str]
    ) -> list[Parameter]:
        """Read the parameters; add their schemas to those of the arguments."""
        read: list[Parameter] = []
        lists = (item.get("parameters", []), found.get("parameters", []))
        for each in parameters.merged(self._document, *lists):
            if parameters.is_ignored(each):
                continue
            if parameters.is_key(each) and self._effect() is Effect.KEYED:
                continue  # the key of the call is sent
            try:
                one = parameters.read(each, self._document, self._schemas, list(properties))
            except UnsupportedError as exc:
                if each.get("required") is True or each.get("in") == "path":
                    raise
                self.left_out.append(Refusal(self._name, exc.name, f"left out: {exc}"))
                continue
            properties[one.parameter.argument] = one.schema
            read.append(one.parameter)
            if one.parameter.required:
                required.append(one.parameter.argument)
        return read

    def _check_path(self, names: set[str]) -> None:
        """Refuse a path that would lead out of the API, or whose holes nothing fills."""
        if not _PATH.fullmatch(self._path) or self._path.startswith("//"):
            raise UnsupportedError("path", f"{self._path[:80]!a}")
        if {".", ".."} & set(self._path.replace("%2e", ".").replace("%2E", ".").split("/")):
            raise UnsupportedError("path", f"{self._path[:80]!a}")
        holes = set(_HOLE.findall(self._path))
        if holes != names:
            raise UnsupportedError("path", f"{self._path[:80]!a} has other parameters")

    def _body(self, found: Json, properties: Json, required: list[str]) -> tuple[str | None, str]:
        if found.get("requestBody") is None:
            return None, ""
        body = resolved(self._document, found["requestBody"], "the request body")
        is_required = body.get("required") is True
        try:
            kind, schema = self._json_body(body)
        except UnsupportedError as exc:
            if is_required:
                raise
            self.left_out.append(Refusal(self._name, exc.name, f"left out: {exc}"))
            return None, ""
        name = parameters.argument_name("body", "json", properties)
        properties[name] = schema
        if is_required:
            required.append(name)
        return name, kind

    def _json_body(self, body: Json) -> tuple[str, Any]:
        """The media type of a body, and its schema."""
        if self._method in READING:
            raise UnsupportedError("body-of-get", "it has a request body")
        content = body.get("content")
        types = content if isinstance(content, dict) else {}
        kind = next((each for each in types if _JSON.fullmatch(each)), None)
        if kind is None:
            raise UnsupportedError("body", ", ".join(list(types)[:5]) or "no type")
        described = types[kind] if isinstance(types[kind], dict) else {}
        return kind, self._schemas.taken(described.get("schema", {}))

    def _description(self, found: Json) -> str:
        words = [found.get("summary"), found.get("description")]
        text = "\n\n".join(dict.fromkeys(each for each in words if isinstance(each, str) and each))
        limit = self._policy.description_chars
        return text if len(text) <= limit else text[: limit - 1] + _CUT

    def _effect(self) -> Effect:
        if self._method in READING:
            return Effect.SAFE
        return Effect.KEYED if self._name in self._policy.keyed else Effect.ONCE

    def _approval(self) -> Approval:
        otherwise = "never" if self._method in READING else self._policy.approval
        return self._policy.approvals.get(self._name, otherwise)
