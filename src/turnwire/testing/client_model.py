"""A strict `useChat` client: it reads SSE, and raises at what some released client trips over.

It knows the portable profile and nothing else. Written from the measured rules of the client's
wire, apart from `src`: it shares no code with what it judges.
"""

import json
import re
from typing import Any, Final, TypeAlias, cast

from turnwire.testing.strict_json import read_json

Chunk: TypeAlias = dict[str, Any]
Part: TypeAlias = dict[str, Any]

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
    "tool-input-delta": ({"toolCallId", "inputTextDelta"}, set()),
    "tool-input-available": ({"toolCallId", "toolName", "input", "providerExecuted"}, set()),
    "tool-output-available": ({"toolCallId", "output", "providerExecuted"}, set()),
    "tool-output-error": ({"toolCallId", "errorText", "providerExecuted"}, set()),
    "file": ({"url", "mediaType"}, set()),
    "source-url": ({"sourceId", "url"}, {"title"}),
    "data-agent-status": ({"data", "transient"}, set()),
    "data-question": ({"data", "id"}, set()),
}
NATIVE: Final[dict[str, tuple[set[str], set[str]]]] = {
    "tool-approval-request": ({"approvalId", "toolCallId"}, set()),
}
"""What a client takes beside them that asks for native approvals."""
RESET: Final = "reset-step"
"""A type that clients from 7.0.70 on know, which ask for the profile `7.1`."""
FINISH_REASONS: Final = {"stop", "length", "content-filter", "tool-calls", "error", "other"}
"""The words of `finishReason` that every client takes that asks for native approvals."""
_DATA_PART = ({"data"}, {"id", "transient"})
_DATA_NAME = re.compile(r"data-[A-Za-z0-9_-]{1,64}")
_PRELIMINARY = "preliminary"
"""A field of outputs for clients that ask for native approvals; 5.0.0 refuses it."""
_ANYTHING = {"input", "output", "data", "messageMetadata"}
_FLAGS = {"providerExecuted", "transient", _PRELIMINARY}
_EVENT_NAMES = {"start": "message-start", "finish": "message-finish"}
_OPENS = re.compile(rb"(?:event: ([A-Za-z0-9_-]+)\n)?data: (.+)")
_SECRET = re.compile(r"__proto__|constructor|\\u00")
_CUTS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_INPUT_STARTED, _INPUT_GIVEN, _DONE = "input-start", "input-available", "output"
_NO_RESULT = "No result"
"""The error of a call without an outcome. An outcome may replace it, once."""
_SHOWN_OF_A_CALL = ("input", "output", "errorText")
_IN_NO_STEP = {"start", "start-step", "finish-step", "error", "abort", "finish"}
_IN_A_BLOCK = {"text-delta", "text-end", "reasoning-delta", "reasoning-end"}


class BrokenPromiseError(Exception):
    """What was read breaks a rule of the wire: the user of some client would suffer."""


def need(fact: object, complaint: str) -> None:
    if not fact:
        raise BrokenPromiseError(complaint)


def check_record(
    record: bytes, *, named: bool | None = True, native: bool = False, resets: bool = False
) -> Chunk:
    """Read the one chunk of a record. `named`: whether it has an event line; None: it may.

    `native`: the client is one that asks for native approvals, and so newer than 5.0.0.
    `resets`: it is one that knows `reset-step`.
    """
    match = _OPENS.fullmatch(record)
    need(match is not None, f"not an event line and a data line: {record!r}")
    assert match is not None
    need(_CUTS.search(record.decode()) is None, f"some line splitter cuts {record!r}")
    data = match[2].decode()
    chunk = _decoded(data)
    kind: str = chunk["type"]
    known = PORTABLE | (NATIVE if native else {}) | ({RESET: (set(), set())} if resets else {})
    need(kind in known or _DATA_NAME.fullmatch(kind), f"unknown type {kind!r}")
    has_name = match[1] is not None
    need(named in {None, has_name}, f"event line {match[1]!r} for {kind}")
    right_name = _EVENT_NAMES.get(kind, kind).encode()
    need(not has_name or match[1] == right_name, f"event line {match[1]!r} for {kind}")
    must, may = known.get(kind, _DATA_PART)
    if native and kind == "tool-output-available":
        may = may | {_PRELIMINARY}
    if native and kind == "finish":
        may = may | {"finishReason"}
        reason = chunk.get("finishReason", "stop")
        need(reason in FINISH_REASONS, f"finish.finishReason is {reason!r}")
    fields = chunk.keys() - {"type"}
    need(fields >= must, f"{kind} lacks {must - fields}")
    need(fields <= must | may, f"{kind} has the unknown {fields - must - may}")
    for field in fields - _ANYTHING:
        value = chunk[field]
        fits = value is True if field in _FLAGS else isinstance(value, str)
        need(fits, f"{kind}.{field} is {value!r}")
    if _SECRET.search(data):
        _refuse_secret_keys(chunk)
    return chunk


def _decoded(data: str) -> Chunk:
    try:
        chunk = read_json(data)
        if _SURROGATE.search(data):
            json.dumps(chunk, ensure_ascii=False).encode()  # half a pair has no UTF-8
    except ValueError as error:
        raise BrokenPromiseError(f"{error}: {data!r}") from error
    need(isinstance(chunk, dict) and isinstance(chunk.get("type"), str), f"no chunk: {data!r}")
    return cast(Chunk, chunk)


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
    """Reads one stream. `at` is where in the order of a turn it is.

    `named`: whether records have an event line; None: they may. `native`: the client is one that
    asks for native approvals. `resets`: it is one that knows `reset-step`.
    """

    def __init__(
        self, *, named: bool | None = True, native: bool = False, resets: bool = False
    ) -> None:
        self.at = "before"  # between (steps), step, ending, finished, done
        self.verdict: Chunk | None = None
        self.message_id: str | None = None
        self.metadata: Any = None
        self.parts: list[Part] = []
        """The parts of the message, as `useChat` has them."""
        self.data: list[Chunk] = []
        """What `onData` is called with, in order."""
        self.texts: dict[str, str] = {}
        """What stands in each text block, by its id and in order."""
        self.reasonings: dict[str, str] = {}
        self.streamed_text = ""
        """The text of all text blocks in the order in which it came."""
        self.open_blocks: dict[str, Part] = {}
        """The parts of the open blocks, by their ids; all of one kind."""
        self.tools: dict[str, str] = {}
        self.pieces: dict[str, str] = {}
        """The input of each call as far as it came in pieces, as text."""
        self.previews: dict[str, list[Any]] = {}
        """The preliminary outputs of each call."""
        self.questions: dict[str, str] = {}
        self.approvals: dict[str, str] = {}
        """The calls that wait for a yes or a no, by the ids of the requests for it."""
        self.media: list[str] = []
        """The URLs of files and sources."""
        self.statuses: list[str] = []
        self._calls: dict[str, Part] = {}
        self._goes_on = False
        """Whether the last step of an earlier response goes on, since a call in it waits: what
        comes before the next `start-step` is of that step."""
        self._named = named
        self._native = native
        self._resets = resets
        self._rest = b""

    def next_response(self) -> "Client":
        """Return a client that has this message, and reads a response in which it goes on."""
        client = Client(named=self._named, native=self._native, resets=self._resets)
        client.message_id, client.parts = self.message_id, [dict(part) for part in self.parts]
        client.streamed_text, client.tools = self.streamed_text, dict(self.tools)
        of_calls = [part for part in client.parts if "toolCallId" in part]
        client._calls = {part["toolCallId"]: part for part in of_calls}
        client._goes_on = any(stage != _DONE for stage in self.tools.values())
        return client

    @property
    def text(self) -> str:
        return "".join(self.texts.values())

    @property
    def error(self) -> str | None:
        return None if self.verdict is None else self.verdict.get("errorText")

    @property
    def shown(self) -> bool:
        """Whether the user sees a message."""
        return self.message_id is not None or self.metadata is not None or bool(self.parts)

    def read(self, data: bytes) -> None:
        *records, self._rest = (self._rest + data).split(b"\n\n")
        for record in records:
            need(self.at != "done", f"{record!r} follows [DONE]")
            if record == b"data: [DONE]":
                need(self.at == "finished", f"[DONE] and no finish: {self.at}")
                self.at = "done"
            elif not record.startswith(b":"):
                about: dict[str, Any] = {"native": self._native, "resets": self._resets}
                self._take(check_record(record, named=self._named, **about))

    def close(self) -> None:
        """The body ended."""
        need(not self._rest, f"the last record is not ended by a blank line: {self._rest!r}")
        need(self.at == "done", f"the body ends {self.at}, no [DONE]")
        need("open" not in self.questions.values(), "a question is left open")

    def _take(self, chunk: Chunk) -> None:
        kind: str = chunk["type"]
        if kind.startswith("data-"):
            self.data.append(chunk)
        if kind == "data-agent-status":
            need(self.at in {"before", "between", "step"}, f"a status {self.at}")
            self.statuses.append(chunk["data"]["status"])
            return
        if kind.startswith("data-") and kind != "data-question" and self._data_part(chunk):
            return
        if kind not in _IN_A_BLOCK:
            beside = {f"{part['type']}-start" for part in self.open_blocks.values()}
            need(beside <= {kind}, f"{kind} while {list(self.open_blocks)} are open")
        is_of_earlier = self._goes_on and self.at == "between" and kind not in _IN_NO_STEP
        match "step" if is_of_earlier else self.at, kind:
            case "before", "start":
                self.at, self.message_id = "between", chunk.get("messageId")
                self.metadata = chunk.get("messageMetadata")
            case "between", "start-step":
                self.at, self._goes_on = "step", False
                self.parts.append({"type": "step-start"})
            case "step", "finish-step":
                asked = self.approvals.values()
                open_calls = [call for call, stage in self.tools.items() if stage != _DONE]
                waiting = [call for call in open_calls if call not in asked]
                need(not waiting, f"the step ends while the tools {waiting} have no outcome")
                self.at = "between"
            case "between", "error" | "abort":
                self.at, self.verdict = "ending", chunk
            case "between" | "ending", "finish":
                self.at = "finished"
                if self.error is None:  # clients hang up at an error
                    self.metadata = chunk.get("messageMetadata", self.metadata)
            case "step", "reset-step":
                self._reset()
            case "step", "data-question":
                self._question(chunk)
            case "step", "file" | "source-url":
                self.media.append(chunk["url"])
                self.parts.append(dict(chunk))
            case "step", _ if kind.startswith("data-"):
                self.parts.append(dict(chunk))
            case "step", _ if kind.startswith("tool-"):
                self._tool(kind.removeprefix("tool-"), chunk)
            case "step", _ if kind.startswith(("text-", "reasoning-")):
                self._block(kind, chunk)
            case _:
                raise BrokenPromiseError(f"{kind} {self.at}")

    def _reset(self) -> None:
        """Forget the parts of the step. Of what was asked, or has an id, more would come."""
        begin = max(n for n, part in enumerate(self.parts) if part["type"] == "step-start") + 1
        forgotten, self.parts = self.parts[begin:], self.parts[:begin]
        for part in forgotten:
            need(not part["type"].startswith("data-") or "id" not in part, f"reset of {part}")
            if call := part.get("toolCallId"):
                need(call not in self.approvals.values(), f"reset of {call}, which is asked about")
                self.tools[call] = _DONE

    def _question(self, chunk: Chunk) -> None:
        known = chunk["id"] in self.questions
        self.questions[chunk["id"]] = chunk["data"]["state"]
        if known:
            shown = next(part for part in self.parts if part.get("id") == chunk["id"])
            shown["data"] = chunk["data"]
        else:
            self.parts.append(dict(chunk))

    def _data_part(self, chunk: Chunk) -> bool:
        """Take a part that is transient, or replaces an earlier one, at any place."""
        if chunk.get("transient"):
            need(self.at in {"before", "between", "step"}, f"a transient part {self.at}")
            return True
        about = chunk["type"], chunk.get("id")
        shown = [part for part in self.parts if (part["type"], part.get("id")) == about]
        if "id" not in chunk or not shown:
            return False
        need(self.at == "step", f"{about} {self.at}")
        shown[0]["data"] = chunk["data"]
        return True

    def _block(self, kind: str, chunk: Chunk) -> None:
        which, act = kind.split("-")
        blocks, block = (self.texts if which == "text" else self.reasonings), chunk["id"]
        if act == "start":
            need(block not in self.texts and block not in self.reasonings, f"{block} comes twice")
            blocks[block] = ""
            self.open_blocks[block] = {"type": which, "text": "", "state": "streaming"}
            self.parts.append(self.open_blocks[block])
            return
        is_open = block in self.open_blocks and block in blocks
        need(is_open, f"{kind} for {block}, which is not open")
        part = self.open_blocks[block]
        part["text"] = blocks[block] = blocks[block] + chunk.get("delta", "")
        if which == "text":
            self.streamed_text += chunk.get("delta", "")
        if act == "end":
            part["state"] = "done"
            del self.open_blocks[block]

    def _tool(self, act: str, chunk: Chunk) -> None:
        call = chunk["toolCallId"]
        stage = self.tools.get(call)
        if act == "input-delta":
            need(stage == _INPUT_STARTED, f"a piece of an input for {call} after {stage}")
            need(chunk["inputTextDelta"], f"an empty piece for {call}")
            self.pieces[call] = self.pieces.get(call, "") + chunk["inputTextDelta"]
            return
        if act == "approval-request":
            need(stage == _INPUT_GIVEN, f"a request for an approval of {call} after {stage}")
            need(call not in self.approvals.values(), f"{call} waits for two approvals")
            self.approvals[chunk["approvalId"]] = call
            self._calls[call]["state"] = "approval-requested"
            return
        if act.startswith("input"):
            may_follow: set[str | None] = {None} | ({_INPUT_STARTED} - {act})
            need(stage in may_follow, f"tool-{act} for {call} after {stage}")
            kind = f"tool-{chunk['toolName']}"
            if stage is None:
                self._calls[call] = {"type": kind, "toolCallId": call}
                self.parts.append(self._calls[call])
            need(self._calls[call]["type"] == kind, "renamed")
            self.tools[call] = act
        else:
            need(stage is not None, f"tool-{act} for {call}, which was never called")
            replaces = stage == _DONE and self._calls[call].get("errorText") == _NO_RESULT
            need(stage == _INPUT_GIVEN or replaces, f"tool-{act} for {call} after {stage}")
            if replaces:
                del self._calls[call]["errorText"]
            if chunk.get(_PRELIMINARY):
                self.previews.setdefault(call, []).append(chunk["output"])
                return
            self.tools[call] = _DONE
        new = {name: chunk[name] for name in _SHOWN_OF_A_CALL if name in chunk}
        state = "input-streaming" if act == _INPUT_STARTED else act
        self._calls[call].update(new, providerExecuted=True, state=state)


def read(transcript: bytes, *, native: bool = False, resets: bool = False) -> Client:
    """Read a whole stream, with or without event lines.

    `native`: the client is one that asks for native approvals. `resets`: it knows `reset-step`.

    Raises:
        BrokenPromiseError: it breaks the portable profile or the order of a turn.

    """
    client = Client(named=None, native=native, resets=resets)
    client.read(transcript)
    client.close()
    while client.parts and client.parts[-1]["type"] == "step-start":
        client.parts.pop()  # a client draws a step when something stands in it
    return client
