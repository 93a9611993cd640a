/**
 * Builds the documentation site into site/.vitepress/dist: static files, for any server. Needs no network. Fails on a link or
 * anchor that leads nowhere, on a page that no sidebar lists, on a first load of more than 200 kB compressed and, where there is Chromium, on what a
 * look at the pages finds: see site/look.ts.
 *
 *     npm run site                          # served from the root of a host
 *     npm run site -- --base /whetstone/    # from a folder
 *     npx vitepress preview site            # to read it here
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sidebar } from "../site/sidebar.ts";
import { noBrowser } from "../test/browser.ts";
import { deadLinks, firstLoads } from "./site/check.ts";
import { lookedAt } from "./site/look.ts";
import { writePages } from "./site/pages.ts";

const root = join(import.meta.dirname, "..");
const site = join(root, "site");
/** Largest first load in bytes, compressed. */
const most = 200_000;

const { base } = parseArgs({ options: { base: { type: "string", default: "/" } } }).values;
if (!/^\/([\w.-]+\/)*$/.test(base)) {
  console.error(`--base ${base}: expected a path that begins and ends with a slash, such as /whetstone/`);
  process.exit(2);
}
function run(...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: "inherit",
    // what is linked as a file, not as a page
    env: { ...process.env, VITE_EXTRA_EXTENSIONS: "jsonl" },
  });
  if (status !== 0) process.exit(1);
}

const written = await writePages(join(site, "pages"));
run(join(root, "node_modules/typescript/bin/tsc"), "-p", "site", "--noEmit");
run(join(root, "node_modules/vitepress/bin/vitepress.js"), "build", "site", "--base", base);

const built = join(site, ".vitepress", "dist");
// the page in which an agent learns: it needs no more than the site's static server
run(
  join(root, "node_modules/vite/bin/vite.js"),
  "build",
  "examples/browser",
  "--outDir",
  join(built, "learn"),
);
const listed = new Set(sidebar.flatMap(({ items }) => items.map(({ link }) => link.slice(1))));
const unlisted = [...written]
  .filter(([page, from]) => from?.startsWith("docs/") && !listed.has(page))
  .map(([page]) => `${page}: no group of site/sidebar.ts lists it`);
const loads = firstLoads(built, base);
const heavy = loads
  .filter(({ bytes }) => bytes > most)
  .map(({ page, bytes }) => `${page}: its first load is ${kB(bytes)}, more than ${kB(most)}`);
const seen = noBrowser || base !== "/" ? [] : await lookedAt(built);
const faults = [...unlisted, ...deadLinks(built, base), ...heavy, ...seen];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);

if (noBrowser) console.log(`site: nothing was looked at, since ${noBrowser}`);
const start = loads.find(({ page }) => page === "index.html");
console.log(
  `site: ${loads.length} pages, every link leads somewhere; first load of the start page ${kB(start!.bytes)}, the largest ${kB(loads[0]!.bytes)} (${loads[0]!.page})`,
);

function kB(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} kB`;
}
