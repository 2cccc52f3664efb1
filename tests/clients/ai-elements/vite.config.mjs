import { defineConfig } from "vite";

import { TEMPLATE, unpack } from "./template.mjs";

// React writes its warnings to the console in development alone, and the test counts them.
process.env.NODE_ENV = "development";
unpack();

export default defineConfig({
  base: "./",
  resolve: { alias: { "@": TEMPLATE } },
  build: {
    minify: false,
    modulePreload: false,
    target: "es2023",
    chunkSizeWarningLimit: 100_000,
  },
});
