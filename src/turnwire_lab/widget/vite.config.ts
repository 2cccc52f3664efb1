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

export default defineConfig(({ mode }) => ({
  logLevel: "warn",
  plugins: [ownZod],
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    // Both go to one folder, beside the types.
    emptyOutDir: false,
    target: "es2022",
    rolldownOptions: { output: { intro: STRICT } },
    lib: {
      entry: mode === "script" ? "src/script.ts" : "src/index.ts",
      formats: [mode === "script" ? "iife" : "es"],
      name: "turnwireWidget",
      fileName: () => (mode === "script" ? "widget.js" : "index.js"),
    },
  },
}));
