import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

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
    chunkSizeWarningLimit: 900,
  },
});
