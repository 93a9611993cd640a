/** Builds dist/: JavaScript and declarations by tsc, and the data files beside them. */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
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
// as they are: tables, and what browsers run
const data = globSync(["**/*.data.json", "**/*.browser.js"], { cwd: join(root, "src") });
for (const file of data) cpSync(join(root, "src", file), join(dist, file));

// tsc rewrites imports, not the names of worker files: those have to follow the file's own extension
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
