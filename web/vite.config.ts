/** Builds the dashboard into dist/web. `npx vite web` serves it while you work on it, over the API of a running server. */
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { routes } from "./src/routes.ts";

/** Writes down which scripts each page needs beside the first ones, so that the server can name them before any has run. */
const scriptsOfPages: Plugin = {
  name: "scripts-of-pages",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
    const withImports = (name: string, known: Set<string>): Set<string> => {
      if (known.has(name)) return known;
      known.add(name);
      for (const other of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
        withImports(other, known);
      return known;
    };
    const entry = chunks.find(({ isEntry }) => isEntry);
    const first = withImports(entry?.fileName ?? "", new Set());
    const scripts = Object.entries(routes).map(([path, page]) => {
      const own = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/pages/${page}.tsx`));
      if (!own) this.error(`There is no page ${page}.`);
      return [path, [...withImports(own.fileName, new Set())].filter((name) => !first.has(name))];
    });
    const source = JSON.stringify(Object.fromEntries(scripts));
    this.emitFile({ type: "asset", fileName: "scripts.json", source });
  },
};

export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [scriptsOfPages],
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
