/** Builds the dashboard into dist/web. `npx vite web` serves it while you work on it, over the API of a running server. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  server: { proxy: { "/api": "http://127.0.0.1:8700", "/v1": "http://127.0.0.1:8700" } },
  build: {
    outDir: fileURLToPath(new URL("../dist/web", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // a data: URL in a style or script is what the content-security policy refuses
    assetsInlineLimit: 0,
  },
});
