"""Run by an interpreter that has Anthropic's library: what does it read in these streams?

Reads a JSON string a line, the body of an answer. Writes for each the final message as JSON, or
null if the library fails.
"""

import json
import sys

import anthropic
import httpx2


def read(body: bytes) -> object:
    answer = httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    transport = httpx2.MockTransport(lambda _: answer)
    client = anthropic.Anthropic(
        api_key="none",
        base_url="http://example.com",
        http_client=httpx2.Client(transport=transport),
    )
    asked = {"role": "user", "content": "hi"}
    try:
        with client.beta.messages.stream(max_tokens=1, model="m", messages=[asked]) as stream:
            return stream.get_final_message().to_dict()
    except Exception:  # noqa: BLE001 (it may fail in any way)
        return None


def main() -> None:
    for line in sys.stdin:
        sys.stdout.write(json.dumps(read(json.loads(line).encode()), default=str) + "\n")


main()
