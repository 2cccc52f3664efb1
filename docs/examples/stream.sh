#!/usr/bin/env bash
# One turn with curl: each record as it comes, and whether it came to its end.
set -euo pipefail

body='{"message": {"role": "user", "content": "what is 12*7?"}}'
said=$(curl --silent --show-error --fail-with-body --no-buffer "$URL/api/sessions/${1:-curl}/chat" \
  --header "authorization: Bearer $TOKEN" --header "content-type: application/json" \
  --data "$body" | tee /dev/stderr)

# Without `finish` the line broke, and the turn may still run.
grep --quiet '^data: {"type":"finish"[,}]' <<<"$said" && echo "whole"
