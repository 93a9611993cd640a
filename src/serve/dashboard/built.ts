/** Finds or builds the dashboard's pages. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WhetstoneError } from "../../core/errors.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * The folder of the built pages. In the package they are next to the code. In the repository they are built on demand (under a
 * second), and rebuilt when their sources change, since pages of another version may not match this server's API.
 * @throws WhetstoneError `config.invalid` if they are not built and cannot be built.
 */
export async function builtPages(): Promise<string> {
  // in the package this file is dist/serve/dashboard/built.js, in the repository src/serve/dashboard/built.ts
  const folder = join(root, "dist", "web");
  const sources = join(root, "web");
  const config = join(sources, "vite.config.ts");
  const page = join(folder, "index.html");
  if (existsSync(page) && !(existsSync(config) && isOlder(page, sources))) return folder;
  if (!existsSync(config)) {
    throw new WhetstoneError("config.invalid", {
      where: "dashboard",
      got: `no pages in ${folder}`,
      expected: "the package as it was published",
      fix: "Install it again.",
    });
  }
  const { build } = await import("vite");
  await build({ configFile: config, logLevel: "warn" });
  return folder;
}

/** Whether a file is older than any file in a folder. */
export function isOlder(file: string, folder: string): boolean {
  const made = statSync(file).mtimeMs;
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).some(
    (name) => statSync(join(folder, name)).mtimeMs > made,
  );
}
