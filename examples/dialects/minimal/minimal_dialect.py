"""A dialect: the agent answers a POST with lines of JSON, and keeps the conversation itself."""

import msgspec
from msgspec import Raw, Struct

import turnwire.dialect as td


class Say(Struct, tag="say"):
    text: td.HandedOn


class Tool(Struct, tag="tool"):
    id: td.Id
    name: td.Id
    input: Raw
    output: Raw = Raw()


class Done(Struct, tag="done"):
    error: td.HandedOn | None = None


FRAMES = (Say, Tool, Done)
DECODER: td.FrameDecoder[Say | Tool | Done] = td.frame_decoder(*FRAMES)


class Turn(td.OneResponse):
    def __init__(self, request: td.PromptRequest) -> None:
        super().__init__(turn_id=request.prompt_id)
        self._request = request

    def connect_request(self) -> td.ConnectRequest:
        asked, self._request = self._request, self._request.without_attachments()
        files = [file.url for file in asked.attachments]
        thread = td.thread_id(asked.session_id, asked.channel.type, asked.channel.id)
        body = msgspec.json.encode({"thread": thread, "text": asked.text, "files": files})
        headers, accept = {"content-type": "application/json"}, ("application/x-ndjson",)
        return td.ConnectRequest(method="POST", headers=headers, accept=accept, body=body)

    def receive_frame(self, frame: bytes, _now: float) -> td.Decoded | str | None:
        match DECODER.read(frame, self.frame_stats):
            case Say(text=text):
                return text
            case Tool(id=call, name=name, input=args, output=result):
                return td.Decoded([td.tool_update(call, name, args=args, result=result)])
            case Done(error=error):
                return self.finished(error=error)
            case None:  # the frame is counted
                return None


class Minimal(td.PromptsOnly):
    name, surface = "minimal", "1"
    features = frozenset({td.Feature.FILES_SENT})
    schema = td.WireSchema(frames=FRAMES, deltas=frozenset({"say"}))

    def prompt(self, request: td.PromptRequest, _member: td.Member | None = None) -> Turn:
        return Turn(request)
