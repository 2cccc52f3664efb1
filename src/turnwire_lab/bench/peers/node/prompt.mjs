// What the Node peers share: where to listen, and the text that was asked.
export const HOST = "127.0.0.1";
export const BACKLOG = 4096;

export async function promptOf(request) {
  let body = "";
  for await (const part of request) body += part;
  return JSON.parse(body)
    .messages.at(-1)
    .parts.filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("");
}
