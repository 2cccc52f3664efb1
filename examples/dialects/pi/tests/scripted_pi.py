"""A program that speaks as pi does: it answers each command, writes a file behind the prompt, ends."""

import json
import sys
from pathlib import Path

for line in sys.stdin:
    command = json.loads(line)
    answer = {"id": command["id"], "type": "response", "command": command["type"], "success": True}
    print(json.dumps(answer | {"data": {"messageCount": 0}}), flush=True)
    if command["type"] == "prompt":
        sys.stdout.buffer.write(Path(sys.argv[1]).read_bytes())
        sys.exit()
