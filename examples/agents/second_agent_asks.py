"""The second agent, which asks its user before it deletes a file."""

import asyncio, collections, json

from second_agent import TOOLS, Session, encode, main

TOOLS["delete_file"] = lambda path: asyncio.sleep(1, f"{path} is gone.")
NEEDS_APPROVAL = {"delete_file"}


class AskingSession(Session):
    def __init__(self):
        super().__init__()
        self.answers = {}  # to each open question, by its id

    def receive(self, frame, user):
        super().receive(frame, user)
        given = self.answers.get(frame["questionId"]) if frame["type"] == "answer" else None
        if given and not given.done():  # the first answer counts
            given.set_result(frame["answer"])

    async def perform(self, turn, call):
        if call["toolName"] in NEEDS_APPROVAL and not await self.approved(turn, call):
            return {"status": "error", "error": "Denied"}
        return await super().perform(turn, call)

    async def approved(self, turn, call):
        question_id = f"{call['callId']}:question"
        about = json.loads(encode({name: call[name] for name in ("callId", "toolName", "args")}))
        part = {"type": "question", "kind": "approval", "questionId": question_id, **about}
        part |= {"text": "May it?", "options": ["approve", "deny"]}
        self.send("question", turn, **part)
        turn["parts"] += [part, {"type": "text", "text": ""}]
        given = self.answers[question_id] = asyncio.get_running_loop().create_future()
        try:
            answer = await given
        except asyncio.CancelledError:
            part["expired"] = True
            self.send("question.expired", turn, questionId=question_id)
            raise
        finally:
            del self.answers[question_id]
        self.send("question.resolved", turn, questionId=question_id, answer=answer)
        part["answer"] = answer
        verdict = answer.get("approved") if isinstance(answer, dict) else answer
        return verdict is True or verdict == "approve"

    async def think(self, turn, prompt):
        if "delete" in prompt:
            self.text(turn, await self.call(turn, "delete_file", path="notes.txt") or "It stays.")
        else:
            await super().think(turn, prompt)


if __name__ == "__main__":
    asyncio.run(main(collections.defaultdict(AskingSession)))
