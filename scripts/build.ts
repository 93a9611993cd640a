/** Builds dist/: JavaScript and declarations by tsc, and the data files beside them. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
rmSync(dist, { recursive: true, force: true });
execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", "tsconfig.build.json"], {
  cwd: root,
  stdio: "inherit",
  shell: process.platform === "win32",
});
execFileSync(
  process.execPath,
  [join(root, "node_modules", "vite", "bin", "vite.js"), "build", "web", "--logLevel", "warn"],
  {
    cwd: root,
    stdio: "inherit",
  },
);
// copied unchanged: tables, and what browsers run
const data = globSync(["**/*.data.json", "**/*.browser.js", "methods/*/*/evidence.json"], {
  cwd: join(root, "src"),
});
for (const file of data) cpSync(join(root, "src", file), join(dist, file));

// in the package the catalogue is a list of static imports, which bundlers and `require` can load
const catalogue = join(dist, "methods", "catalogue.js");
const papers = globSync("*/*/method.js", { cwd: join(dist, "methods") }).sort();
const read = /^export const catalogue = await .*$/m;
const source = readFileSync(catalogue, "utf8");
if (!read.test(source)) throw new Error(`${catalogue} does not read the papers as the build expects`);
const listed = papers.map((file, i) => `import * as m${i} from "./${file.replaceAll("\\", "/")}";`);
const list = papers.map((file, i) => `entryIn(${JSON.stringify(basename(dirname(file)))}, m${i})`);
writeFileSync(
  catalogue,
  `${listed.join("\n")}\n${source.replace(read, `export const catalogue = [${list.join(", ")}];`)}`,
);

// tsc rewrites imports, but not the file names of workers, which must follow the extension of import.meta.url
const stale = globSync("**/*.js", { cwd: dist, exclude: ["web/**"] }).filter((file) =>
  /new URL\(\s*"[^"]*\.ts"\s*,\s*import\.meta\.url/.test(readFileSync(join(dist, file), "utf8")),
);
if (stale.length > 0) {
  console.error(
    `dist/${stale.join(", dist/")} names a .ts file by URL, which is not in dist. Name it by the extension of import.meta.url.`,
  );
  process.exit(1);
}
const count = globSync("**/*.js", { cwd: dist, exclude: ["web/**"] }).length;
console.log(`dist: ${count} modules, ${data.length} data files, the dashboard`);
