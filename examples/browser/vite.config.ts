/**
 * Builds the page into examples/browser/dist: files for any static server. `npx vite examples/browser` serves it while you
 * work on it.
 */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
/** What is loaded in Node alone, when it is asked for: files, and the package that brings WebGPU there. */
const inNode = [/^node:/, "webgpu"];

export default defineConfig({
  root: here("."),
  // relative: it may lie in any folder of a server
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  worker: { format: "es", rolldownOptions: { external: inNode } },
  build: {
    outDir: here("dist"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { external: inNode },
  },
});
