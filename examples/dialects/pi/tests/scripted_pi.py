"""A program that speaks as pi does: it answers each command, tells a file, and ends."""

import json
import sys
from pathlib import Path

for line in sys.stdin:
    command = json.loads(line)
    answer = {"id": command["id"], "type": "response", "command": command["type"], "success": True}
    sys.stdout.write(json.dumps(answer | {"data": {"messageCount": 0}}) + "\n")
    sys.stdout.flush()
    if command["type"] == "prompt":
        sys.stdout.buffer.write(Path(sys.argv[1]).read_bytes())
        sys.exit()
