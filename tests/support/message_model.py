"""What a client must show for a transcript, read strictly and without the AI SDK.

Knows the portable profile and nothing else, and refuses whatever some released client would trip
over. Written apart from `src` on purpose: it shares no code with what it judges.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from support.strict_json import read_json

Chunk: TypeAlias = dict[str, Any]
Part: TypeAlias = dict[str, Any]

# type -> (fields it must have, fields it may have): what every release from 5.0.0 on accepts.
PORTABLE: Final[dict[str, tuple[set[str], set[str]]]] = {
    "start": (set(), {"messageId", "messageMetadata"}),
    "start-step": (set(), set()),
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
    "data-*": ({"data"}, {"id", "transient"}),
    "finish-step": (set(), set()),
    "error": ({"errorText"}, set()),
    "abort": (set(), set()),
    "finish": (set(), {"messageMetadata"}),
}
ANYTHING: Final = {"input", "output", "data", "messageMetadata"}
TRUTHS: Final = {"providerExecuted", "transient"}  # sent as true, or not at all
TOLD: Final = ("input", "output", "errorText")
EVENT_NAMES: Final = {"start": "message-start", "finish": "message-finish"}
ENDINGS: Final = {"error", "abort", "finish"}


class BadStreamError(Exception):
    """The transcript breaks a rule of the wire; some client would suffer."""


@dataclass
class Answer:
    """What the user of a right client has before their eyes when the stream is over."""

    message_id: str | None = None
    metadata: Any = None
    parts: list[Part] = field(default_factory=list)
    data: list[Chunk] = field(default_factory=list)  # what `onData` hears, in order
    error: str | None = None

    @property
    def shown(self) -> bool:
        return self.message_id is not None or self.metadata is not None or bool(self.parts)


def need(fact: bool, complaint: str) -> None:  # noqa: FBT001
    if not fact:
        raise BadStreamError(complaint)


def chunks(transcript: bytes) -> Iterator[Chunk]:
    """Read the SSE: one JSON object a record, then `[DONE]`, then nothing."""
    *records, rest = transcript.decode().split("\n\n")
    need(rest == "", "the last record is not ended by a blank line")
    done = False
    for record in records:
        lines = [line for line in record.split("\n") if not line.startswith(":")]
        if not lines:
            continue
        need(not done, "something follows [DONE]")
        named = lines[0].removeprefix("event: ") if lines[0].startswith("event: ") else None
        data = lines if named is None else lines[1:]
        need(len(data) == 1 and data[0].startswith("data: "), f"not one data line: {record!r}")
        done = data[0] == "data: [DONE]"
        if done:
            continue
        chunk = read_json(data[0].removeprefix("data: "))
        check_fields(chunk)
        right = EVENT_NAMES.get(chunk["type"], chunk["type"])
        need(named in {None, right}, f"event line {named!r} for {chunk['type']}")
        yield chunk
    need(done, "no [DONE]")


def check_fields(chunk: Chunk) -> None:
    kind = chunk["type"]
    profile = PORTABLE.get("data-*" if kind.startswith("data-") else kind)
    need(profile is not None, f"unknown type {kind!r}")
    assert profile is not None
    must, may = profile
    fields = set(chunk) - {"type"}
    need(fields >= must, f"{kind} lacks {must - fields}")
    need(fields <= must | may, f"{kind} has the unknown {fields - must - may}")
    for name in fields - ANYTHING:
        fits = chunk[name] is True if name in TRUTHS else isinstance(chunk[name], str)
        need(fits, f"{kind}.{name} is {chunk[name]!r}")


def read(transcript: bytes) -> Answer:
    """Compute the answer that every client must end up with.

    Raises:
        BadStreamError: the transcript breaks the portable profile or the order of a turn.
    """
    answer = Answer()
    blocks: dict[str, Part] = {}  # text and reasoning by id; their ids are never used again
    tools: dict[str, Part] = {}
    order = _Order()
    for chunk in chunks(transcript):
        kind = chunk["type"]
        order.admit(chunk, blocks, tools)
        match kind.split("-"):
            case ["start"]:
                answer.message_id = chunk.get("messageId")
                answer.metadata = chunk.get("messageMetadata")
            case ["start", "step"]:
                answer.parts.append({"type": "step-start"})
            case ["text" | "reasoning" as which, "start"]:
                need(chunk["id"] not in blocks, f"block {chunk['id']} is opened twice")
                blocks[chunk["id"]] = {"type": which, "text": "", "state": "streaming"}
                answer.parts.append(blocks[chunk["id"]])
            case ["text" | "reasoning" as which, "delta" | "end" as act]:
                block = blocks.get(chunk["id"], {})
                open_now = block.get("type") == which and block["state"] == "streaming"
                need(open_now, f"{kind} for {chunk['id']}, which is not open")
                block["text"] += chunk.get("delta", "")
                block["state"] = "done" if act == "end" else "streaming"
            case ["tool", *what]:
                _tool("-".join(what), chunk, tools, answer)
            case ["file"] | ["source", "url"]:
                answer.parts.append(dict(chunk))
            case ["data", *_]:
                _data(chunk, answer)
            case ["error"]:
                answer.error = chunk["errorText"]
            case ["finish"] if answer.error is None:  # clients hang up at an error
                answer.metadata = chunk.get("messageMetadata", answer.metadata)
            case _:
                pass
    need(order.at == "over", "no finish")
    while answer.parts and answer.parts[-1]["type"] == "step-start":
        answer.parts.pop()  # a client draws a step when something stands in it
    return answer


def _tool(what: str, chunk: Chunk, tools: dict[str, Part], answer: Answer) -> None:
    call = chunk["toolCallId"]
    if call not in tools:
        need(what.startswith("input"), f"{chunk['type']} for {call}, which was never called")
        tools[call] = {"type": f"tool-{chunk['toolName']}", "toolCallId": call}
        answer.parts.append(tools[call])
    tool = tools[call]
    before: dict[str, set[str | None]] = {
        "input-start": {None},
        "input-available": {None, "input-streaming"},
        "output-available": {"input-available"},
        "output-error": {"input-available"},
    }
    need(
        tool.get("state") in before[what],
        f"{chunk['type']} for {call} in state {tool.get('state')}",
    )
    tool.update({name: chunk[name] for name in TOLD if name in chunk}, providerExecuted=True)
    tool["state"] = "input-streaming" if what == "input-start" else what


def _data(chunk: Chunk, answer: Answer) -> None:
    answer.data.append(chunk)
    if "transient" in chunk:
        return
    for part in answer.parts:
        if "id" in chunk and (part["type"], part.get("id")) == (chunk["type"], chunk["id"]):
            part["data"] = chunk["data"]
            return
    answer.parts.append(dict(chunk))


@dataclass
class _Order:
    """The order of a whole turn: start, steps, at most one bad ending, finish."""

    at: str = "before"  # before, between (steps), step, ending, over

    def admit(self, chunk: Chunk, blocks: dict[str, Part], tools: dict[str, Part]) -> None:
        kind = chunk["type"]
        unclosed = [name for name, block in blocks.items() if block["state"] == "streaming"]
        if kind in {"start-step", "finish-step", *ENDINGS}:
            need(not unclosed, f"{kind} while {unclosed} is open")
            waiting = [name for name, tool in tools.items() if not tool["state"].startswith("out")]
            need(not waiting, f"{kind} while the tools {waiting} have no outcome")
        stands_alone = kind.startswith("tool-") or kind in {"file", "source-url"}
        if stands_alone or kind.endswith("-start"):
            need(not unclosed, f"{kind} while {unclosed} is open")
        match self.at, kind:
            case "before", "start":
                self.at = "between"
            case "before" | "between" | "step", "data-agent-status":
                need("transient" in chunk, "a status that stays")
            case "between", "start-step":
                self.at = "step"
            case "step", "finish-step":
                self.at = "between"
            case "between", "error" | "abort":
                self.at = "ending"
            case "between" | "ending", "finish":
                self.at = "over"
            case "step", _ if kind not in {"start", "start-step", *ENDINGS}:
                pass
            case _:
                raise BadStreamError(f"{kind} {self.at}")
