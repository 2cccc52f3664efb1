// Which clients there are: one folder each, named after its `ai` release.
//
// The oldest of each major refuse every field that they do not know; the newest have new readers.
// zod differs on purpose: from 4.4 on a missing key is an error, 3.25.76 lets it pass. The
// @ai-sdk/react 3.0.326 asks for ai 6.0.323; an override gives it the same copy as the transport.
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const HERE = fileURLToPath(new URL(".", import.meta.url));

// Another transport under the newest chat, with tests of its own (tests/conformance/test_workflow.py).
export const TRANSPORTS = ["workflow-2.0.43"];

const folders = (pattern) =>
  readdirSync(HERE, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && pattern.test(entry.name))
    .map((entry) => entry.name)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

export const CLIENTS = folders(/^v\d+\.\d+\.\d+$/);

// The chats of other frameworks, each with the `ai` that its release asks for; and a whole runtime on top.
export const FRAMEWORKS = folders(/^(vue|svelte)-\d+\.\d+\.\d+$/);
export const RUNTIMES = ["assistant-ui-0.15.22"];
