"""Tests the dialect: the frames of an agent that tells again what was missed."""

import json
from collections.abc import Sequence

from several_connections import SeveralConnections

from turnwire.dialect import ConnectRequest
from turnwire.testing import DialectSuite, Script


class TestSeveralConnections(DialectSuite):
    dialect = SeveralConnections()

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        del prompt_id  # frames of this wire do not name the prompt
        if script.name not in ("text", "breaks", "nothing"):
            return None
        told = [{"type": "say", "text": text} for text in script.texts] + [{"type": "done"}]
        return [json.dumps({**frame, "n": n}).encode() for n, frame in enumerate(told, start=1)]

    def reconnected(
        self, script: Script, request: ConnectRequest, sent: Sequence[bytes]
    ) -> Sequence[bytes] | None:
        del request  # this wire asks in a frame
        asked = [json.loads(frame) for frame in sent]
        if not asked or asked[-1]["type"] != "since":
            return []
        return (self.frames(script, "") or [])[asked[-1]["n"] :]
