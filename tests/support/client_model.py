"""A strict `useChat` client: it reads SSE and raises at whatever some released client trips over.

Written from the measured rules of the client's wire, apart from `src`: it
shares no code with what it judges.
"""

import re
from typing import Any, Final

import msgspec

# type: the fields it must have, the fields it may have. What every client from 5.0.0 on takes.
PORTABLE: Final[dict[str, tuple[set[str], set[str]]]] = {
    "start": (set(), {"messageId", "messageMetadata"}),
    "start-step": (set(), set()),
    "finish-step": (set(), set()),
    "finish": (set(), {"messageMetadata"}),
    "abort": (set(), set()),
    "error": ({"errorText"}, set()),
    "text-start": ({"id"}, set()),
    "text-delta": ({"id", "delta"}, set()),
    "text-end": ({"id"}, set()),
    "reasoning-start": ({"id"}, set()),
    "reasoning-delta": ({"id", "delta"}, set()),
    "reasoning-end": ({"id"}, set()),
    "tool-input-start": ({"toolCallId", "toolName", "providerExecuted"}, set()),
    "tool-input-available": ({"toolCallId", "toolName", "input", "providerExecuted"}, set()),
    "tool-output-available": ({"toolCallId", "output", "providerExecuted"}, set()),
    "tool-output-error": ({"toolCallId", "errorText", "providerExecuted"}, set()),
    "file": ({"url", "mediaType"}, set()),
    "source-url": ({"sourceId", "url"}, {"title"}),
    "data-agent-status": ({"data", "transient"}, set()),
    "data-question": ({"data", "id"}, set()),
}
_ANYTHING = {"input", "output", "data", "messageMetadata"}
_FLAGS = {"providerExecuted", "transient"}
_EVENT_NAMES = {"start": "message-start", "finish": "message-finish"}
_OPENS = re.compile(rb"(?:event: ([a-z-]+)\n)?data: (.+)")
_SECRET = re.compile(r"__proto__|constructor|\\u00")
_CUTS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_INPUT_STARTED, _INPUT_GIVEN, _DONE = "input-start", "input-available", "output"


class BrokenPromiseError(Exception):
    """What was read breaks a rule of the wire: the user of some client would suffer."""


def need(fact: object, complaint: str) -> None:
    if not fact:
        raise BrokenPromiseError(complaint)


def check_record(record: bytes, *, named: bool = True) -> dict[str, Any]:
    """Read the one chunk of a record, which has only what the portable profile knows."""
    match = _OPENS.fullmatch(record)
    need(match is not None, f"not an event line and a data line: {record!r}")
    assert match is not None
    need(_CUTS.search(record.decode()) is None, f"some line splitter cuts {record!r}")
    chunk: dict[str, Any] = msgspec.json.decode(match[2])
    kind = chunk["type"]
    need(kind in PORTABLE, f"unknown type {kind}")
    right_name = _EVENT_NAMES.get(kind, kind).encode() if named else None
    need(match[1] == right_name, f"event line {match[1]!r} for {kind}")
    must, may = PORTABLE[kind]
    fields = chunk.keys() - {"type"}
    need(must <= fields <= must | may, f"{kind} with the fields {fields}")
    for field in fields - _ANYTHING:
        value = chunk[field]
        fits = value is True if field in _FLAGS else isinstance(value, str)
        need(fits, f"{kind}.{field} is {value!r}")
    if _SECRET.search(match[2].decode()):
        _refuse_secret_keys(chunk)
    return chunk


def _refuse_secret_keys(value: Any) -> None:
    if isinstance(value, dict):
        need("__proto__" not in value, "a key __proto__")
        made = value.get("constructor")
        need(not (isinstance(made, dict) and "prototype" in made), "constructor over prototype")
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            _refuse_secret_keys(inner)


class Client:
    """Reads one stream. `at` is where in the order of a turn it is."""

    def __init__(self) -> None:
        self.at = "before"  # between (steps), step, ending, finished, done
        self.verdict: dict[str, Any] | None = None
        self.message_id: str | None = None
        self.texts: dict[str, str] = {}
        """What stands in each text block, by its id and in order."""
        self.reasonings: dict[str, str] = {}
        self.open_block: str | None = None
        self.tools: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.questions: dict[str, str] = {}
        self.media: list[str] = []
        """The URLs of files and sources."""
        self.statuses: list[str] = []
        self._rest = b""

    @property
    def text(self) -> str:
        return "".join(self.texts.values())

    def read(self, data: bytes) -> None:
        *records, self._rest = (self._rest + data).split(b"\n\n")
        for record in records:
            need(self.at != "done", f"{record!r} follows [DONE]")
            if record == b"data: [DONE]":
                need(self.at == "finished", "[DONE] before finish")
                self.at = "done"
            elif not record.startswith(b":"):
                self._take(check_record(record))

    def close(self) -> None:
        """The body ended."""
        need(self.at == "done", f"the body ends {self.at}")
        need(not self._rest, f"half a record: {self._rest!r}")
        need("open" not in self.questions.values(), "a question is left open")

    def _take(self, chunk: dict[str, Any]) -> None:
        kind: str = chunk["type"]
        if kind == "data-agent-status":
            need(self.at in {"before", "between", "step"}, f"a status {self.at}")
            self.statuses.append(chunk["data"]["status"])
            return
        if kind not in {"text-delta", "text-end", "reasoning-delta", "reasoning-end"}:
            need(self.open_block is None, f"{kind} while {self.open_block} is open")
        match self.at, kind:
            case "before", "start":
                self.at, self.message_id = "between", chunk.get("messageId")
            case "between", "start-step":
                self.at = "step"
            case "step", "finish-step":
                waiting = [call for call, stage in self.tools.items() if stage != _DONE]
                need(not waiting, f"the step ends while {waiting} have no outcome")
                self.at = "between"
            case "between", "error" | "abort":
                self.at, self.verdict = "ending", chunk
            case "between" | "ending", "finish":
                self.at = "finished"
            case "step", "data-question":
                self.questions[chunk["id"]] = chunk["data"]["state"]
            case "step", "file" | "source-url":
                self.media.append(chunk["url"])
            case "step", _ if kind.startswith("tool-"):
                self._tool(kind.removeprefix("tool-"), chunk)
            case "step", _ if kind.startswith(("text-", "reasoning-")):
                self._block(kind, chunk)
            case _:
                raise BrokenPromiseError(f"{kind} {self.at}")

    def _block(self, kind: str, chunk: dict[str, Any]) -> None:
        which, act = kind.split("-")
        blocks, block = (self.texts if which == "text" else self.reasonings), chunk["id"]
        if act == "start":
            need(block not in self.texts and block not in self.reasonings, f"{block} comes twice")
            blocks[block], self.open_block = "", block
            return
        need(block == self.open_block and block in blocks, f"{kind} for {block}, not open")
        blocks[block] += chunk.get("delta", "")
        self.open_block = None if act == "end" else block

    def _tool(self, act: str, chunk: dict[str, Any]) -> None:
        call = chunk["toolCallId"]
        stage = self.tools.get(call)
        if act.startswith("input"):
            may_follow: set[str | None] = {None} | ({_INPUT_STARTED} - {act})
            need(stage in may_follow, f"tool-{act} for {call} after {stage}")
            need(self.names.setdefault(call, chunk["toolName"]) == chunk["toolName"], "renamed")
            self.tools[call] = act
            return
        need(stage == _INPUT_GIVEN, f"tool-{act} for {call} after {stage}")
        self.tools[call] = _DONE
