"""Frames of the `session-agent` wire that may come at any time."""

from support import session_agent_frames as f

OTHER = {"channelType": "web", "channelId": "c2"}


def pool(revision: str) -> list[bytes]:
    """Frames that may come at any time; those of our turn more often."""
    calls = [
        f.tool(phase, call)
        for phase in ("pending", "running", "completed", "error")
        for call in "ab"
    ]
    ours = [
        *(f.begin(turn) for turn in (f.TURN, "turn-2")),
        *(f.chunk(said, turn) for said in ("x", "\ud83d", "\ude00") for turn in (f.TURN, "turn-2")),
        *(f.updated(f.text("x"), call, content="x") for call in calls),
        *(f.doing(what) for what in ("thinking", "streaming", "idle")),
        *(f.asked(revision, question) for question in ("q1", "q2")),
        *(f.answered(revision, question) for question in ("q1", "q2")),
        f.expired(revision),
    ]
    rare = [
        *(
            f.updated(f.text("xyz"), call, f.finish(end))
            for call in calls[:2]
            for end in ("error", "canceled")
        ),
        f.done("xyz"),
        f.drained(revision),
        f.status(runnerBusy=False, aborted=True),
        f.status(promptDequeued=True, messageId="P9", **f.CHANNEL),
        f.status(runnerDisconnected=True, queuedPrompts=1),
        f.status(queueCleared=True),
        f.status(status="error"),
        f.failure("no"),
        f.frame("error", message="no"),
        f.audit("user.abort"),
        f.begin("T9", **OTHER),
        f.chunk("foreign", "T9", **OTHER),
        f.done("foreign", "T9"),
        f.user("three", "P3", by="u2"),
        f.frame("queue.withdrawn", data={"messageId": f.PROMPT}),
        b"nonsense",
    ]
    return [*ours * 4, *rare]
