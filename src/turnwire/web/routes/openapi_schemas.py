"""The JSON schemas of `/openapi.json`: request bodies and response bodies."""

from typing import Any, Final

from turnwire.core.approvals import APPROVAL_ID_MAX
from turnwire.errors import RequestRefused


def _object(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties}


def ref(name: str) -> dict[str, str]:
    """Return a reference to a schema of `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


STRING: Final = {"type": "string"}
_ID: Final = {"type": "string", "minLength": 1, "maxLength": 512}

REFUSAL: Final = {
    **_object(
        ["error", "code", "requestId"],
        error=STRING,
        code={
            "enum": sorted({"internal", *(kind.code for kind in RequestRefused.__subclasses__())})
        },
        requestId=STRING,
    ),
    "additionalProperties": False,
}

_PART: Final = _object(
    ["type"],
    type=STRING,
    text=STRING,
    mediaType=STRING,
    url={"type": "string", "description": "Of a file: a `data:` URL in base64"},
    filename=STRING,
)

MESSAGE: Final = {
    **_object(
        ["role"],
        id=STRING,
        role={"enum": ["user", "assistant", "system"]},
        parts={"type": "array", "items": _PART},
        content={"type": "string", "description": "Instead of parts (AI SDK 4)"},
    ),
    "description": "Of the last one its user's text and files are read, or the answers in it",
    "anyOf": [{"required": ["parts"]}, {"required": ["content"]}],
}

_LAST: Final = {
    "description": "Instead of messages: the last one alone",
    "allOf": [ref("Message")],
    "properties": {
        "role": {"enum": ["user", "assistant"]},
        "content": {"pattern": r"\S"},
    },
}

CHAT_BODY: Final = {
    "type": "object",
    "properties": {
        "messages": {"type": "array", "minItems": 1, "items": ref("Message")},
        "message": _LAST,
        "id": STRING,
        "trigger": STRING,
        "messageId": STRING,
    },
    "anyOf": [{"required": ["messages"]}, {"required": ["message"]}],
}

STOP_BODY: Final = _object([], turnId={**_ID, "description": "None: whichever runs"})

RECEIPT: Final = _object(
    ["stopped", "turnId", "reason", "waitedMs"],
    stopped={"type": "boolean", "description": "The turn is over because it was stopped"},
    turnId={"type": ["string", "null"]},
    reason={
        "type": "string",
        "description": "The agent's verdict; `idle`: nothing ran; `no_verdict`: none came in time",
    },
    waitedMs={"type": "integer"},
)

ANSWER_BODY: Final = _object(
    ["questionId", "answer"],
    questionId=_ID,
    answer={},
    approvalId={
        "type": ["string", "null"],
        "minLength": 1,
        "maxLength": APPROVAL_ID_MAX,
        "description": "That of the question, where it has one: an approval is answered with it",
    },
)

_FINISH: Final = _object(
    ["reason"],
    reason={"enum": ["canceled", "error"]},
    errorText={"type": "string", "description": "Of an error: what its stream said of it"},
)

UI_MESSAGE: Final = _object(
    ["id", "role", "parts"],
    id=STRING,
    role={"enum": ["user", "assistant"]},
    parts={"type": "array", "items": {"type": "object", "required": ["type"]}},
    metadata={
        **_object(["finish"], finish=_FINISH),
        "description": "With `finish=true`, of an answer that failed or was stopped",
    },
)

EVENT: Final = {
    **_object(
        ["data"],
        event={"type": "string", "description": "The chunk's type, where a setting asks for it"},
        data={"type": "string", "description": "A chunk, in JSON; `[DONE]` after the last one"},
    ),
    "description": "One record of the stream",
}

SCHEMAS: Final = {
    "Event": EVENT,
    "Refusal": REFUSAL,
    "Message": MESSAGE,
    "ChatBody": CHAT_BODY,
    "StopBody": STOP_BODY,
    "Receipt": RECEIPT,
    "AnswerBody": ANSWER_BODY,
    "UIMessage": UI_MESSAGE,
}
