"""The second agent, which asks its user before it deletes a file."""

import asyncio
from typing import Any

from second_agent import TOOLS, ThinkingSession, main
from second_agent_wire import Json

TOOLS["delete_file"] = lambda path: f"{path} is gone."
NEEDS_APPROVAL = {"delete_file"}


class AskingSession(ThinkingSession):
    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[str, asyncio.Future[Any]] = {}  # to each open question

    def receive(self, frame: Json, user: str) -> None:
        super().receive(frame, user)
        given = self.answers.get(frame["questionId"]) if frame["type"] == "answer" else None
        if given and not given.done():  # the first answer counts
            given.set_result(frame["answer"])

    async def perform(self, call: Json) -> Json:
        if call["toolName"] in NEEDS_APPROVAL and not await self.approved(call):
            return {"status": "error", "error": "Denied"}
        return await super().perform(call)

    async def approved(self, call: Json) -> bool:
        names = {"questionId": f"{call['callId']}:question", "turnId": self.turn["id"]}
        about = {name: call[name] for name in ("callId", "toolName", "args")}
        part = {"type": "question", "kind": "approval", **names, **about}
        self.show("question", part, text="May it?", options=["approve", "deny"])
        given = self.answers[names["questionId"]] = asyncio.get_running_loop().create_future()
        try:
            part["answer"] = answer = await given
        except asyncio.CancelledError:
            part["expired"] = True
            self.send("question.expired", **names)
            raise
        finally:
            del self.answers[names["questionId"]]
        self.send("question.resolved", **names, answer=answer)
        verdict = answer.get("approved") if isinstance(answer, dict) else answer
        return verdict is True or verdict == "approve"

    async def think(self, prompt: str) -> None:
        if "delete" in prompt:
            self.text(await self.call("delete_file", path="notes.txt") or "It stays.")
        else:
            await super().think(prompt)


if __name__ == "__main__":
    asyncio.run(main(AskingSession))
