"""What a socket gets first (§4.1): everything on R, next to nothing on A and V."""

from websockets.asyncio.server import ServerConnection

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.caller import details
from turnwire_lab.agents.session_agent.state.state import State

MODELS: list[Json] = [{"provider": "None", "models": [{"id": "none/none", "name": "No model"}]}]


def init(state: State) -> Json:
    full = state.revision == "R"
    session: Json = {
        "id": state.id,
        "status": state.status,
        "workspace": "acme/app",
        "title": f"Session {state.id}",
    }
    data: Json = {
        "sandboxRunning": state.status == "running",
        "runnerConnected": state.connected,
        "runnerBusy": state.busy,
        "promptsQueued": len(state.rows.queued),
        "connectedClients": len(state.sockets),
        "connectedUsers": _users(state) if full else state.sockets.users,
    }
    if full:
        session["messages"] = [entry.written() for entry in state.entries.values()]
        data |= {"availableModels": MODELS, "auditLog": state.audit.in_init()}
    else:
        head = state.rows.head
        pending = None if head is None else {**head.pending(), "threadId": head.channel.thread}
        data["pendingPrompt"] = pending
    return {"type": "init", "session": session, "data": data}


def send_init(state: State, socket: ServerConnection) -> None:
    """`init` and the questions that wait, to this socket alone."""
    state.sockets.tell_one(socket, init(state))
    for pending in state.pending.values():
        frame = pending.frame
        if state.revision == "R":
            frame = {name: value for name, value in frame.items() if name != "expiresAt"}
        state.sockets.tell_one(socket, frame)


def hydrate(state: State, socket: ServerConnection, user_id: str) -> None:
    """A and V: models and the whole audit log for this socket."""
    state.introduced.add(user_id)
    if not state.habits.noise or socket not in state.sockets:
        return
    if state.revision != "R":
        models: Json = {"type": "models", "models": MODELS}
        if state.revision == "V":
            models["defaultModel"] = "none/none"
        state.sockets.tell_one(socket, models)
        for frame in state.audit.frames():
            state.sockets.tell_one(socket, frame)
    # To all clients, the new one too, and for every socket of a user.
    state.tell(
        {
            "type": "user.joined",
            "userId": user_id,
            "userDetails": details(user_id),
            "connectedUsers": _users(state),
        }
    )
    state.note("user.joined", f"{user_id} joined", user_id)


def socket_left(state: State, user_id: str) -> None:
    """A socket closed. If it was the last of its user, the other clients get `user.left`."""
    if user_id in state.sockets.users or not state.habits.noise:
        return
    state.tell({"type": "user.left", "userId": user_id, "connectedUsers": _users(state)})
    state.note("user.left", f"{user_id} left", user_id)


def _users(state: State) -> list[Json]:
    return [{"id": user, **details(user)} for user in state.sockets.users]
