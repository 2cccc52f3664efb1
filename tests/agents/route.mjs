// A route that answers useChat itself, as an app writes it with the newest `ai`, and a model that needs
// no network: `node tests/agents/route.mjs PORT`. It says on its output when it listens.
import { createServer } from "node:http";
import { createRequire } from "node:module";

const at = createRequire(new URL("../clients/v7.0.173/package.json", import.meta.url));
const { convertToModelMessages, isStepCount, jsonSchema, simulateReadableStream, streamText, tool } =
  await import(at.resolve("ai"));
const { MockLanguageModelV4 } = await import(at.resolve("ai/test"));

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

function said(text, id = "1") {
  const words = text.match(/\S+\s*/g) ?? [];
  return [
    { type: "text-start", id },
    ...words.map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ];
}

function called(toolName, input, toolCallId) {
  return { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) };
}

// What the model says depends on the last prompt, and on the results behind it.
function chunks(prompt) {
  const last = prompt.findLastIndex((message) => message.role === "user");
  const asked = prompt[last].content.map((part) => part.text ?? "").join("");
  const results = prompt
    .slice(last)
    .filter((message) => message.role === "tool")
    .flatMap((message) => message.content.filter((part) => part.type === "tool-result"))
    .map(({ output }) => output.value ?? output.reason ?? output.type);
  const id = `call_${prompt.length}`;
  if (results.length > 0) return said(`So: ${results.join(" and ")}.`);
  if (asked.includes("make the turn fail")) throw new Error("the model is overloaded");
  if (asked.includes("make the tool fail"))
    return [...said("Let me see. "), called("calculator", { expression: "1/0" }, id)];
  if (asked.includes("12*7"))
    return [...said("Let me see. "), called("calculator", { expression: "12*7" }, id)];
  if (asked.includes("delete"))
    return [...said("Let me see. "), called("delete_file", { path: "notes.txt" }, id)];
  return said("Hello! I am a small agent, and no model is behind me.");
}

const model = new MockLanguageModelV4({
  doStream: async ({ prompt }) => {
    const content = chunks(prompt);
    const unified = content.some((chunk) => chunk.type === "tool-call") ? "tool-calls" : "stop";
    const finish = { type: "finish", finishReason: { unified, raw: undefined }, usage };
    return { stream: simulateReadableStream({ chunks: [...content, finish] }) };
  },
});

const object = (properties) => jsonSchema({ type: "object", properties });
const tools = {
  calculator: tool({
    inputSchema: object({ expression: { type: "string" } }),
    execute: async ({ expression }) => {
      if (expression === "1/0") throw new Error("calculator: float division by zero");
      return `${expression} is 84`;
    },
  }),
  delete_file: tool({
    inputSchema: object({ path: { type: "string" } }),
    execute: async ({ path }) => `${path} is deleted`,
  }),
};

async function answer(messages) {
  const result = streamText({
    model,
    messages: await convertToModelMessages(messages),
    tools,
    toolApproval: { delete_file: "user-approval" },
    experimental_toolApprovalSecret: "a secret of the app",
    stopWhen: isStepCount(5),
    onError: () => {},
  });
  return result.toUIMessageStreamResponse({
    originalMessages: messages,
    messageMetadata: () => ({ model: "a secret of the app" }),
    onError: (error) => error.message,
  });
}

const server = createServer(async (request, response) => {
  let body = "";
  for await (const piece of request) body += piece;
  const { messages } = JSON.parse(body);
  const { status, headers, body: stream } = await answer(messages);
  response.writeHead(status, Object.fromEntries(headers));
  for await (const piece of stream) response.write(piece);
  response.end();
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log("listening"));
