"""A provider that turnwire-agent does not know: an entry of data, and a call."""

import asyncio
import os
from contextlib import aclosing

from turnwire_agent.llm.call.stream import stream
from turnwire_agent.llm.credentials.api_key import ApiKey
from turnwire_agent.llm.credentials.key_header import KEY_HEADERS
from turnwire_agent.llm.credentials.sources import KeyVariable
from turnwire_agent.llm.events import Finish, TextDelta
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.model import Model, Quirks
from turnwire_agent.llm.providers import Provider
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.transcript import Text, User

ACME = Provider(
    shape="chat",
    base_url=os.environ.get("ACME_URL", "https://api.acme.example/v1"),
    key_variable="ACME_API_KEY",
    quirks=Quirks(max_tokens_field="max_tokens", effort_field=False, stream_usage=False),
)


async def main() -> None:
    model = Model(
        provider="acme",
        name="acme-large",
        shape=ACME.shape,
        base_url=ACME.base_url,
        quirks=ACME.quirks,
    )
    credential = ApiKey(KeyVariable(ACME.key_variable), KEY_HEADERS[model.shape])
    request = Request(transcript=(User((Text("Say hello"),)),), max_tokens=100)
    async with aclosing(stream(model, request, credential)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                print(event.text, end="", flush=True)
            elif isinstance(event, Finish):
                print(f" ({event.reason})")
            elif isinstance(event, Fault):
                raise SystemExit(f"{event.kind}: {event.message}")


asyncio.run(main())
