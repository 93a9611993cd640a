/**
 * Writes the last section of docs/cli.md, every command with its flags, from the program itself. `--check` writes nothing
 * and fails if the section is out of date.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { createIo } from "../src/cli/output.ts";
import { createProgram } from "../src/cli/program.ts";

const target = join(import.meta.dirname, "..", "docs", "cli.md");
const heading = "## Every command and flag\n";

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

/** Commands with an action of their own, in the order of the help. */
export const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);

function lineOf(command: Command): string {
  const words = [command.name()];
  for (let above = command.parent; above; above = above.parent) words.unshift(above.name());
  const takes = command.registeredArguments.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [...words, ...takes].join(" ");
}

/** Excludes flags that every command takes; they are listed once, above. */
const own = ({ long }: Option): boolean => long !== "--json" && long !== "--debug";

function rowOf({ flags, description, defaultValue, mandatory }: Option): string {
  const stated = typeof defaultValue === "string" || typeof defaultValue === "number";
  const more = mandatory ? " (required)" : stated ? ` (default: ${defaultValue})` : "";
  return `| \`${cell(flags)}\` | ${cell(`${description}${more}`)} |`;
}

function sectionOf(command: Command): string {
  const options = command.options.filter(own);
  const about = [`### \`${lineOf(command)}\``, command.description()];
  return (
    options.length === 0
      ? about
      : [...about, ["| flag | |", "| --- | --- |", ...options.map(rowOf)].join("\n")]
  ).join("\n\n");
}

/** The page with an up-to-date last section. */
export async function currentPage(page: string): Promise<string> {
  const program = await createProgram([], createIo([]));
  const intro =
    "Beside `--json`, `--debug` and `--help`. Written by `node scripts/cli-doc.ts` from the program itself.";
  const sections = leavesOf(program).map(sectionOf);
  const from = page.indexOf(heading);
  const before = from < 0 ? `${page.trimEnd()}\n\n` : page.slice(0, from);
  return `${before}${[heading.trimEnd(), intro, ...sections].join("\n\n")}\n`;
}

if (import.meta.main) {
  const page = readFileSync(target, "utf8");
  const current = await currentPage(page);
  if (!process.argv.includes("--check")) writeFileSync(target, current);
  else if (page !== current) {
    console.error("docs/cli.md is out of date. Run node scripts/cli-doc.ts.");
    process.exitCode = 1;
  }
}
