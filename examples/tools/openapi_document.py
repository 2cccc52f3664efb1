"""The operations of an OpenAPI document as tools."""

import asyncio
import json
import os
import sys

from turnwire_agent.llm.credentials.api_key import ApiKey
from turnwire_agent.llm.credentials.key_header import BEARER
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.sources import KeyVariable
from turnwire_agent.openapi.api import OpenApi
from turnwire_agent.tools.contract import Context
from turnwire_agent.tools.openapi.policy import Policy

DOCUMENT = json.loads("""{
  "openapi": "3.1.0",
  "info": {"title": "Shop", "version": "1"},
  "paths": {"/orders/{id}": {
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
    "get": {"operationId": "readOrder", "summary": "Read an order."},
    "delete": {"operationId": "cancelOrder", "summary": "Cancel an order."},
    "trace": {}
  }}
}""")
POLICY = Policy(name="shop", keyed=frozenset({"cancelOrder"}), approvals={"cancelOrder": "always"})
ADDRESS = os.environ.get("SHOP_URL", "https://shop.example/v1")


async def main() -> None:
    credential = ApiKey(KeyVariable("SHOP_TOKEN"), BEARER)
    try:
        await credential.headers()
    except CredentialError as error:
        print(f"openapi_document: {error}", file=sys.stderr)
        sys.exit(2)
    async with OpenApi(DOCUMENT, POLICY, ADDRESS, credential=credential) as shop:
        for refusal in shop.refusals:
            print(f"{refusal.operation} is no tool: {refusal.why}")
        for tool in shop.tools:
            print(f"{tool.name} ({tool.effect.value}, asks: {tool.approval})")
        read = shop.tools.get("shop.readOrder")
        assert read
        print(await read.call({"id": "o 7"}, Context(call_id="c1", key="s1/c1", deadline=0.0)))


asyncio.run(main())
