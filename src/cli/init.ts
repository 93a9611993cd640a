/** `whetstone init`: a runnable project in an empty folder. */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import type { Command } from "commander";
import { makeFolder } from "../common/files/files.ts";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { addCommand, type Io } from "./output.ts";
import { packageSource, packageVersion } from "./packageSource.ts";
import { projectFiles } from "./template.ts";

export function addInit(program: Command, io: Io): void {
  addCommand(program, "init", "Create a project: an environment, a config, a test.", [
    "whetstone init my-agent",
    "cd my-agent && npm install && npm test && npm start",
  ])
    .argument("[folder]", "an empty or new folder", ".")
    .action(async (folder: string) => {
      const path = resolve(folder);
      if (existsSync(path) && !isEmptyFolder(path)) {
        throw new WhetstoneError("option.range", {
          where: "init",
          got: `${folder}, which is not an empty folder`,
          expected: "an empty folder, so that nothing is overwritten",
          fix: "Choose another one, such as my-agent.",
        });
      }
      const root = resolve(import.meta.dirname, "..", "..");
      const source = packageSource(root);
      const files = Object.entries(projectFiles(packageName(path), source));
      await makeFolder(path);
      try {
        for (const [name, text] of files) writeFileSync(join(path, name), text, { flag: "wx" });
      } catch (e) {
        throw new WhetstoneError("folder.unwritable", {
          where: "init",
          got: messageOf(e),
          expected: "a writable folder",
          fix: "Choose another folder.",
          cause: e,
        });
      }
      io.record({ type: "done", folder: path, files: files.map(([name]) => name) });
      const there = relative(process.cwd(), path);
      io.say(...files.map(([name]) => `wrote ${join(there, name)}`), "", "Next:");
      // a clone is no package that npm could install as it is
      const packed = join(root, `whetstone-${packageVersion()}.tgz`);
      const install =
        source === undefined ? `(cd ${root} && npm pack) && npm install ${packed}` : "npm install";
      io.say(`  ${there === "" ? "" : `cd ${there} && `}${install}`, "  npm test", "  npm start");
    });
}

/** Only what version control or a file manager leaves behind counts as nothing. */
function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).every((name) => name === ".git" || name === ".DS_Store");
  } catch {
    return false;
  }
}

const packageName = (path: string): string =>
  basename(path)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "") || "my-agent";
