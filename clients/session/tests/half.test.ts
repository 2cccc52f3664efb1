// Half of an answer whose stream broke: it stands there until it is known what becomes of it.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { answer, begun, clock, opened, Scripted, stream, textsOf, until, user, whole } from "./scripted.js";

before(() => clock.start());
after(() => clock.stop());

/** A gateway whose turn t1 breaks in its middle; its history has the prompt alone until the turn is over. */
function breaking(resumed: () => Response): Scripted {
  const gateway = new Scripted();
  gateway.replies.chat = () => {
    gateway.history = [user("u1", "why?")];
    return stream([...begun("t1"), { type: "error", errorText: "Stream interrupted" }, { type: "finish" }]);
  };
  gateway.replies.stream = resumed;
  return gateway;
}

/** What stood there as the last message, whenever something changed, without repetitions. */
async function seen(gateway: Scripted, end: string): Promise<string[]> {
  const session = await opened(new Proxy(gateway, {}));
  const texts: string[] = [];
  session.subscribe(() => {
    const last = textsOf(session.getState().messages).at(-1) ?? "";
    if (texts.at(-1) !== last) texts.push(last);
  });
  void session.send({ text: "why?" });
  await until(() => textsOf(session.getState().messages).at(-1) === end && !session.busy && !session.getState().looking);
  return texts;
}

test("half an answer stands there until its stream goes on", async () => {
  let looks = 0;
  const gateway = breaking(() => (looks++ === 0 ? new Response(null, { status: 204 }) : stream(whole("t1", "so it is"))));
  const texts = await seen(gateway, "so it is");
  // A new stream begins with an empty message, and its words are there in the same moment.
  assert.deepEqual(
    texts.filter((text) => text !== ""),
    ["why?", "so", "so it is"],
  );
});

test("half an answer whose turn is over gives way to the history", async () => {
  let looks = 0;
  const gateway = breaking(() => {
    if (looks++ > 0) gateway.history = [user("u1", "why?"), answer("t1", "so it was")];
    return new Response(null, { status: 204 });
  });
  assert.deepEqual((await seen(gateway, "so it was")).filter((text) => text !== ""), ["why?", "so", "so it was"]);
});

test("half an answer gives way to another turn that runs by now", async () => {
  let looks = 0;
  const gateway = breaking(() => (looks++ === 0 ? new Response(null, { status: 204 }) : stream(whole("t2", "something else"))));
  const session = await opened(gateway);
  void session.send({ text: "why?" });
  await until(() => textsOf(session.getState().messages).at(-1) === "something else" && !session.busy);
  assert.deepEqual(textsOf(session.getState().messages), ["why?", "something else"]);
});
