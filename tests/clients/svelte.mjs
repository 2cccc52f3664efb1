// Hooks of Node's loader for clients of Svelte: runes are compiled for the browser, as a bundler does.
//
// `data` of `register` is the folder of a client: what tests/clients itself imports of Svelte comes from there.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const RUNES = ".svelte.js";
const CONDITIONS = ["svelte", "browser"];
let folder;

export function initialize(client) {
  folder = client;
}

export function resolve(specifier, context, next) {
  const parentURL = /^(svelte|esm-env)\b/.test(specifier) ? folder : context.parentURL;
  return next(specifier, { ...context, parentURL, conditions: [...CONDITIONS, ...context.conditions] });
}

export async function load(url, context, next) {
  if (!url.endsWith(RUNES)) return next(url, context);
  const { compileModule } = await import("svelte/compiler");
  const options = { filename: fileURLToPath(url), generate: "client", dev: false };
  const { js } = compileModule(await readFile(new URL(url), "utf8"), options);
  return { format: "module", source: js.code, shortCircuit: true };
}
