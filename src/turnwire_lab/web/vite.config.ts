import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Whoever has the script alone learns from it whose code is in it.
const CREDITS = "/*! The demo's page of turnwire (MIT), with other libraries: see LICENSES.txt beside its index.html */";

export default defineConfig({
  plugins: [react()],
  resolve: {
    // Decoded: the path of a clone may have a space.
    alias: { "turnwire-session": decodeURIComponent(new URL("../../../clients/session/dist/index.js", import.meta.url).pathname) },
    dedupe: ["ai"], // the session has a copy of its own, for its tests
  },
  build: {
    // No inlined assets and no preload helper: the page's policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    rolldownOptions: { output: { postBanner: CREDITS } },
    chunkSizeWarningLimit: 900,
  },
});
