import { readFileSync } from "node:fs";

import { defineConfig, type Plugin } from "vite";

// Left alone, the schema library would try `new Function`, which a host page's policy may forbid, and
// the browser would report the attempt. All copies of it on a page share their settings through one
// global; so ours has a global of its own.
const STRICT = "globalThis.__turnwire_zod = { jitless: true };";
const ownZod: Plugin = {
  name: "own-zod",
  transform(code, id) {
    return /[\\/]zod[\\/]/.test(id) && code.includes("__zod_globalConfig")
      ? { code: code.replaceAll("__zod_globalConfig", "__turnwire_zod"), map: null }
      : null;
  },
};

// The schema library can write its schemas as JSON Schema, which a chat never asks for: a twentieth
// of the script.
const noJsonSchema: Plugin = {
  name: "no-json-schema",
  transform(code, id) {
    if (!/[\\/]zod[\\/]v4[\\/]core[\\/](to-json-schema|json-schema-processors)\.js$/.test(id)) return null;
    const names = [...code.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name);
    const nothing = names.map((name) => `export const ${name} = nothing;`);
    return { code: ["const nothing = () => nothing;", ...nothing, "export { nothing as process };"].join("\n"), map: null };
  },
};

// Whoever has a file alone learns from it whose code is in it.
const { name, version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const CREDITS = `/*! ${name} ${version} (MIT), with other libraries: see LICENSES.txt of its package */`;

export default defineConfig(({ mode }) => ({
  logLevel: "warn",
  plugins: [ownZod, noJsonSchema],
  resolve: {
    // Decoded: the path of a clone may have a space.
    alias: { "turnwire-session": decodeURIComponent(new URL("../../../clients/session/dist/index.js", import.meta.url).pathname) },
    dedupe: ["ai"], // the session has a copy of its own, for its tests
  },
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    // Both go to one folder, beside the types.
    emptyOutDir: false,
    target: "es2022",
    // The paths of modules would be those of the machine that builds.
    rolldownOptions: { output: { intro: STRICT, postBanner: CREDITS }, experimental: { attachDebugInfo: "none" } },
    lib: {
      entry: mode === "script" ? "src/script.ts" : "src/index.ts",
      formats: [mode === "script" ? "iife" : "es"],
      name: "turnwireWidget",
      fileName: () => (mode === "script" ? "widget.js" : "index.js"),
    },
  },
}));
