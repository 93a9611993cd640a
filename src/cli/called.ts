/** How the command is called where it runs, so that what is printed can be copied. */
import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** In the order of the help. */
export const commandNames = [
  "start",
  "init",
  "validate",
  "train",
  "eval",
  "discover",
  "judge",
  "export",
  "import",
  "envs",
  "methods",
  "explain",
  "check",
  "compare",
  "arena",
  "play",
  "tasks",
  "league",
  "runs",
  "show",
  "serve",
  "keys",
  "versions",
  "prices",
  "costs",
  "artefacts",
  "forget",
  "backup",
  "restore",
  "dashboard",
  "doctor",
] as const;
export type CommandName = (typeof commandNames)[number];

const within = (path: string, folder: string): boolean => {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
};

/** @param root of the package. @param cwd where the command was called. */
export function calledAs(root: string, cwd: string): string {
  const at = root.lastIndexOf(`${sep}node_modules${sep}`);
  // a clone, whose own scripts run in its root
  if (at < 0) return within(cwd, root) ? "npm run -s whetstone --" : "whetstone";
  const project = root.slice(0, at);
  const passing = project.split(sep).includes("_npx");
  return passing || within(cwd, project) ? "npx whetstone" : "whetstone";
}

/** This process: its package lies two folders above this file. */
export const calledHere = (): string =>
  calledAs(
    fileURLToPath(new URL("../..", import.meta.url)).replace(/[\\/]$/, ""),
    realpathSync(process.cwd()),
  );

const commands = new RegExp(
  `(?<!npx |-s |[\\w./@-])whetstone (?=(?:${commandNames.join("|")})\\b|--\\w)`,
  "g",
);

/** A text for people, with its commands as they are called. */
export const asCalled = (text: string, called: string): string => text.replaceAll(commands, `${called} `);
