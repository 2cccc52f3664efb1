"""Stands for a model, without a key: it asks for the tool `refund`, and says what came of it."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REFUND = {"name": "refund", "arguments": '{"order_id": "o7", "amount": 40}'}
CALL = {"index": 0, "id": "c1", "type": "function", "function": REFUND}


class Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        last = asked["messages"][-1]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        if last["role"] == "tool":
            self.say({"content": last["content"]}, "stop")
        elif "tools" in asked:
            self.say({"content": "I have to ask.", "tool_calls": [CALL]}, "tool_calls")
        else:
            self.say({"content": "I am a script, and know one tool."}, "stop")

    def log_request(self, *_: object) -> None:
        """Leave the terminal to the stream."""

    def say(self, delta: dict[str, object], reason: str) -> None:
        for choice in ({"delta": delta}, {"delta": {}, "finish_reason": reason}):
            self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


if __name__ == "__main__":
    port = int(sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", port), Model) as server:
        print(f"plays a model at http://127.0.0.1:{port}/v1", flush=True)
        server.serve_forever()
