/** What the documents say of the command line, held against the program. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Command } from "commander";
import { currentPage } from "../../scripts/cli-doc.ts";
import { checkConfig, statedRun } from "../../src/cli/options.ts";
import { createIo } from "../../src/cli/output.ts";
import { createProgram } from "../../src/cli/program.ts";

const root = join(import.meta.dirname, "../..");
const read = (page: string): string => readFileSync(join(root, page), "utf8");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
];
const io = createIo([]);
const program = (): Promise<Command> => createProgram([], io);

test("docs/cli.md names every command with every flag: node scripts/cli-doc.ts writes them", async () => {
  const page = read("docs/cli.md");
  assert.equal(page, await currentPage(page));
  const [table = ""] = /\| command \| does \|[\s\S]*?\n\n/.exec(page) ?? [];
  for (const command of (await program()).commands)
    assert.match(
      table,
      new RegExp(`whetstone ${command.name()}\\b`),
      `${command.name()} is not in the table`,
    );
});

/** Lines of code that call the program, as their words: those that go on with a backslash are one, comments are none. */
function callsIn(page: string): readonly (readonly string[])[] {
  const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```|^((?: {4}.*\n)+)/gm)];
  const code = blocks.flatMap(([, language = "", fenced, indented]) =>
    ["", "sh", "bash"].includes(language) ? [fenced ?? indented ?? ""] : [],
  );
  const lines = code.flatMap((block) => block.replaceAll(/\\\n\s*/g, "").split(/\n| && /));
  return lines.flatMap((line) => {
    const [, said] = /^\s*(?:npx |npm run -s )?whetstone (?:-- )?(.*?)(?:\s+#.*)?$/.exec(line) ?? [];
    if (said === undefined) return [];
    const words = [...said.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)];
    return [words.map(([, single, double, bare]) => single ?? double ?? bare ?? "")];
  });
}

/** @returns the command that a line calls, with its options read. @throws what the program throws at an option that is none. */
function parsed(words: readonly string[], above: Command): Command {
  const [name = "", ...rest] = words;
  const command = above.commands.find((one) => one.name() === name);
  assert.ok(command, `no command ${name}`);
  if (command.commands.length > 0) return parsed(rest, command);
  const { operands, unknown } = command.parseOptions(rest);
  assert.deepEqual(unknown, [], "unknown options");
  const { registeredArguments: takes } = command;
  assert.ok(operands.length >= takes.filter(({ required }) => required).length, "an argument is missing");
  assert.ok(operands.length <= takes.length || takes.at(-1)?.variadic, `surplus: ${operands.join(" ")}`);
  return command;
}

for (const page of pages) {
  const calls = callsIn(read(page));
  if (calls.length === 0) continue;
  test(`${page}: its ${calls.length} commands are commands, with flags that they take`, async () => {
    for (const words of calls) {
      const line = words.join(" ");
      try {
        const command = parsed(words, await program());
        if (command.name() === "train") checkConfig(statedRun(command.opts()), line);
      } catch (e) {
        throw new Error(`whetstone ${line}`, { cause: e });
      }
    }
  });
}

test("docs/weight-free.md: the command for what only a capable model can show is a whole run", async () => {
  const calls = callsIn(read("docs/weight-free.md"));
  const talking = calls.filter((words) => words.includes("chat") && words.includes("gepa"));
  assert.equal(talking.length, 1);
  const stated = statedRun(parsed(talking[0]!, await program()).opts());
  for (const key of ["url", "model", "env", "episodes", "maxSpend", "price", "cache", "out"] as const)
    assert.ok(stated[key] !== undefined, key);
});
