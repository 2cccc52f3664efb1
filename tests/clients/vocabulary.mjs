// Prints the version of each newest `ai` and the chunks of its own schema, with their fields.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { CLIENTS, HERE } from "./clients.mjs";

const NEWEST = [...new Map(CLIENTS.map((client) => [client.split(".")[0], client])).values()];

// The name of a data part is a function in the schema, which zod refuses to describe unless it is
// told otherwise. The SDK passes an object without this option, so it is looked up here. As it is
// not enumerable, nobody else sees it.
Object.defineProperty(Object.prototype, "unrepresentable", { value: "any" });

/** The fields of each type of chunk, but for the type. */
function fieldsByType(schema) {
  const found = schema.anyOf.map(({ properties: { type, ...fields } }) => {
    return [type.const ?? "data-*", Object.keys(fields).sort()];
  });
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

const vocabulary = {};
for (const client of NEWEST) {
  const { ai } = await import(pathToFileURL(join(HERE, client, "index.mjs")));
  vocabulary[client.slice(1)] = fieldsByType(await ai.uiMessageChunkSchema().jsonSchema);
}
console.log(JSON.stringify(vocabulary));
