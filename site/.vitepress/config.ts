/** The documentation site. `npm run site` writes its pages and builds it. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { sidebar } from "../sidebar.ts";

/** The theme's search box, with answers of the catalogue. */
const searchBox = fileURLToPath(new URL("./theme/SearchBox.ts", import.meta.url));

/** Anchors as GitHub makes them, so that a link works in both places. */
const anchor = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0969da"/><path d="M3 4l2.5 8L8 6l2.5 6L13 4" fill="none" stroke="#fff" stroke-width="1.6"/></svg>';

/** Long pages of reference and history that would drown the guides in the search. */
const unsearched = /^(source|bench\/results|CHANGELOG|decisions)/;

export default defineConfig({
  title: "Whetstone",
  description: "LLM agents learn from feedback, in TypeScript",
  lang: "en",
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
  ],
  srcDir: "pages",
  vite: { resolve: { alias: [{ find: /^\.\/VPLocalSearchBox\.vue$/, replacement: searchBox }] } },
  // files beside the pages: scripts/site.ts checks these links, and anchors too
  ignoreDeadLinks: [/^\/files\//],
  markdown: {
    anchor: { slugify: anchor },
    config(md) {
      // what scrolls can be reached by keys, as the theme's own blocks can
      const plain = md.renderer.rules.code_block!;
      md.renderer.rules.code_block = (...args) => plain(...args).replace("<pre>", '<pre tabindex="0">');
    },
  },
  themeConfig: {
    nav: [
      { text: "Guides", link: "/overview.md" },
      { text: "Find a method", link: "/catalogue.md" },
      { text: "Leaderboard", link: "/leaderboard.md" },
      { text: "API", link: "/api/index.md" },
    ],
    sidebar: sidebar.map(({ text, items }) => ({ text, items: [...items], collapsed: false })),
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        _render: (text, env, md) => (unsearched.test(env.relativePath) ? "" : md.render(text, env)),
      },
    },
  },
});
