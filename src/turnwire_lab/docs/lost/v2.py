"""The frames and fields of the `v2` wire that clients get nothing of."""

from typing import Final

from turnwire_lab.docs.lost import ALL, ANY, BY_NAME, Row

ROWS: Final = (
    Row(
        ANY,
        "turnId promptId userId channelType channelId",
        "nothing: they say whose frame it is. A frame of another turn is counted (`foreign`)",
    ),
    Row(
        "message message.updated messages.removed pong user.left audit_log models model-switched"
        " git-state pr-created files-changed diff review-result command-result child-session title"
        " toast",
        ALL,
        BY_NAME,
    ),
    Row("status", ALL, "nothing: a sign that the agent is alive"),
    Row("user.joined", "userId", "nothing: a sign that a client came back"),
    Row("message.part.file", "filename", "nothing: the chunk of a file has no name"),
    Row("message.part.file", "url", "`file with a URL that no client is sent`, if it is such"),
    Row("message.part.source", "url", "`source with a URL that no client is sent`, if it is such"),
    Row(
        "message.part.tool-update",
        "preliminary",
        "nothing in the portable profile: the result that it marks is not shown there",
    ),
    Row("message.finalize", "finalText", "`contradicted text`, if it is not what was streamed"),
    Row("message.finalize", "usage", "nothing, unless `TURNWIRE_USAGE` asks for it"),
    Row("error", "error", "nothing, if there is a `message` too"),
    Row("init.session", "id status title workspace createdAt", "nothing"),
    Row("init.session.messages", "content createdAt", "nothing: the parts have the content"),
    Row("part.file", "filename", "nothing in a turn, as above; a prompt has it"),
)
