"""An API as tools: its document, its address, its credential."""

import hashlib
import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from msgspec.structs import replace

from turnwire_agent.home_loop import HomeLoop
from turnwire_agent.llm.call.http import Client, http_client
from turnwire_agent.llm.credentials.api_key import NoKey
from turnwire_agent.llm.credentials.port import Credential, CredentialError
from turnwire_agent.openapi.answers import Answer, result_of
from turnwire_agent.openapi.exchange import exchange
from turnwire_agent.tools.arguments import untyped
from turnwire_agent.tools.contract import Context, Effect, Tool, Tools
from turnwire_agent.tools.openapi.address import checked_address
from turnwire_agent.tools.openapi.operations import HttpOperation, openapi_operations
from turnwire_agent.tools.openapi.policy import Policy
from turnwire_agent.tools.openapi.request import HttpRequest, request_of
from turnwire_agent.tools.openapi.unsupported import Refusal

LOGGER: Final = logging.getLogger("turnwire_agent.openapi")
BODY_BYTES: Final = 1_000_000
CONNECTIONS: Final = 20
KEY_CHARS: Final = 255
"""Most characters of an `Idempotency-Key`."""

_UNAUTHORIZED: Final = 401


class ApiError(Exception):
    """A call was not made, by no fault of the tool: the model hears generic words."""


class OpenApi:
    """The operations of one API, as tools of one event loop, for as long as the context lasts.

        async with OpenApi(document, Policy(name="shop"), "https://shop.example/v1") as api:
            tools = Tools([*own_tools, *api.tools])

    Args:
        document: An OpenAPI document, 3.0 or 3.1, as JSON.
        policy: What the operator decides.
        address: Where the API is. The document does not decide that: it would decide who gets
            the credential (`address.document_address` is for who trusts it).
        credential: Whose headers go with each request.
        body_bytes: Most bytes of an answer. What is longer is cut, and says so.

    Raises:
        BadToolError: the document, the policy or the address is none.
    """

    def __init__(
        self,
        document: Any,
        policy: Policy,
        address: str,
        *,
        credential: Credential | None = None,
        body_bytes: int = BODY_BYTES,
    ) -> None:
        self._address = checked_address(address)
        self._credential: Credential = credential or NoKey()
        self._body_bytes = body_bytes
        self._home: HomeLoop | None = None
        self._client: Client | None = None
        converted = openapi_operations(document, policy)
        tools, refusals = list[Tool](), list(converted.refusals)
        for operation in converted.operations:
            try:
                tools.append(self._tool(operation))
            except ValueError as exc:
                why = str(exc).partition("\n")[0]
                refusals.append(Refusal(operation.name.partition(".")[2], "schema", why))
        self.tools = Tools(tools)
        self.refusals = tuple(refusals)
        """What is no tool, or was left out of one."""

    async def __aenter__(self) -> Self:
        self._home = HomeLoop()
        self._client = http_client(connections=CONNECTIONS)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        client, self._home, self._client = self._client, None, None
        if client:
            await client.aclose()

    def _tool(self, operation: HttpOperation) -> Tool:
        async def call(value: Mapping[str, Any], context: Context) -> Any:
            if self._home is None:
                raise ApiError("the API is not open")
            return await self._home.run(self._call(operation, value, context.key))

        return Tool(
            name=operation.name,
            description=operation.description,
            schema=operation.schema,
            validate=untyped(operation.schema),
            call=call,
            effect=operation.effect,
            approval=operation.approval,
            timeout_s=operation.timeout_s,
        )

    async def _call(self, operation: HttpOperation, value: Mapping[str, Any], key: str) -> Any:
        request = request_of(operation, value)
        if operation.effect is Effect.KEYED:
            headers = {**request.headers, "idempotency-key": header_key(key)}
            request = replace(request, headers=headers)
        try:
            answer = await self._answer(operation, request)
        except CredentialError as exc:
            LOGGER.warning("openapi: tool=%a no credential: %s", operation.name, exc)
            raise ApiError("there is no credential") from None
        LOGGER.info("openapi: tool=%a status=%d", operation.name, answer.status)
        return result_of(answer)

    async def _answer(self, operation: HttpOperation, request: HttpRequest) -> Answer:
        """Once more after a 401, if there is another credential: nothing was done then."""
        granted = await self._credential.headers()
        answer = await self._once(operation, request, granted.headers)
        if answer.status == _UNAUTHORIZED and await self._credential.refused(granted.version):
            granted = await self._credential.headers()
            answer = await self._once(operation, request, granted.headers)
        return answer

    async def _once(
        self, operation: HttpOperation, request: HttpRequest, headers: Mapping[str, str]
    ) -> Answer:
        if self._client is None:
            raise ApiError("the API is not open")
        return await exchange(
            self._client, self._address, request, headers, operation.timeout_s, self._body_bytes
        )


def header_key(key: str) -> str:
    """Return the key of a call as a header takes it: the same for the same key."""
    if len(key) <= KEY_CHARS and key.isascii() and key.isprintable() and " " not in key and key:
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
