"""Run by an interpreter that has the official libraries: what do they read in these streams?

Reads a JSON object a line: `shape`, and the `body` of an answer. Writes for each what the library
has at the end, as JSON, or null if it fails: OpenAI's have a final message, Google's only chunks.
"""

import json
import sys
from typing import Any

import httpx2
import openai
from google import genai
from google.genai import types


def served(body: bytes) -> Any:
    """A client whose server sends this body to whatever it is asked."""
    answer = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    return httpx2.Client(transport=httpx2.MockTransport(lambda _: answer))


def read_chat(body: bytes) -> Any:
    client = openai.OpenAI(api_key="none", base_url="http://example.com", http_client=served(body))
    asked = {"role": "user", "content": "hi"}
    with client.chat.completions.stream(model="m", messages=[asked]) as stream:
        return stream.get_final_completion().to_dict()


def read_responses(body: bytes) -> Any:
    client = openai.OpenAI(api_key="none", base_url="http://example.com", http_client=served(body))
    with client.responses.stream(model="m", input="hi") as stream:
        return stream.get_final_response().to_dict()


def read_google(body: bytes) -> Any:
    options = types.HttpOptions(base_url="http://example.com", httpx_client=served(body))
    client = genai.Client(api_key="none", http_options=options)
    chunks = client.models.generate_content_stream(model="m", contents="hi")
    fields = {"mode": "json", "by_alias": True, "exclude_none": True}
    return [chunk.model_dump(exclude={"sdk_http_response", "parsed"}, **fields) for chunk in chunks]


READERS = {"chat": read_chat, "responses": read_responses, "google": read_google}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            final = READERS[asked["shape"]](asked["body"].encode())
        except Exception as error:  # noqa: BLE001 (it may fail in any way)
            sys.stderr.write(f"{error!r}\n")
            final = None
        sys.stdout.write(json.dumps(final) + "\n")


main()
