/**
 * Runs the commands of a page as a reader does it: in an empty folder, its blocks of `sh` and `bash` from beginning to end in one
 * shell. What the reader has besides is given by `reader.ts`.
 */
import { spawn } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { install } from "../cli/projects.ts";
import { answerCommands } from "./commands.ts";
import { readers } from "./reader.ts";
import { provider } from "./standIn.ts";

const root = join(import.meta.dirname, "../..");
export const pages = globSync(
  ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "site/*.md", "bench/README.md"],
  {
    cwd: root,
  },
).sort();

export interface Block {
  readonly name: string;
  readonly commands: string;
  /** What the page says is printed. */
  readonly printed?: string;
}

export const blocksOf = (page: string): readonly Block[] =>
  [
    ...readFileSync(join(root, page), "utf8").matchAll(
      /^```(?:sh|bash)\n(.*?)^```\n(?:\n?```text\n(.*?)^```$)?/gms,
    ),
  ].map(([, commands, printed], i) => ({
    name: `${page}#${i + 1}`,
    commands: commands!,
    ...(printed !== undefined && { printed }),
  }));

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

function shell(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<{ code: number; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", script], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, text }));
  });
}

export interface Walk {
  readonly code: number;
  /** All that was printed. */
  readonly text: string;
  /** What came of each block, by its name. */
  readonly came: ReadonlyMap<string, string>;
}

/** @param blocks of the page, those that are run. */
export async function walk(page: string, blocks: readonly Block[]): Promise<Walk> {
  const folder = mkdtempSync(join(tmpdir(), "whetstone-guide-"));
  const { setUp, answer, names = {}, before = "", env = {} } = readers[page] ?? {};
  const behind = await provider(answer);
  const socket = join(folder, "commands");
  const answering = await answerCommands(socket);
  try {
    const here = join(folder, "here");
    install(here, join(folder, "packages"));
    await setUp?.(here);
    const port = await freePort();
    const standsFor: Readonly<Record<string, string>> = {
      ...names,
      "https://api.openai.com/v1": behind.url,
      "http://127.0.0.1:8080/v1": behind.url,
      "8600": `${port}`,
      "8700": `${port}`,
      "8123": `${port}`,
    };
    const anyName = new RegExp(
      Object.keys(standsFor)
        .map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"))
        .join("|"),
      "g",
    );
    const said = (commands: string): string =>
      commands.replace(anyName, (name) => standsFor[name]!).replaceAll(" && ", "\n"); // the shell forgives what fails before &&
    const script = blocks
      .map(({ name, commands }) => `echo; echo '=== ${name}'\n${said(commands)}`)
      .join("\n");
    // or a test runner that the page calls would report to this one
    const { NODE_TEST_CONTEXT: _, WHETSTONE_STORE: __, ...inherited } = process.env;
    const { code, text } = await shell(
      `source ${join(import.meta.dirname, "shell.sh")}\n${said(before)}\n${script}`,
      here,
      {
        ...inherited,
        NO_COLOR: "1",
        OPENAI_API_KEY: "sk-reader",
        TMPDIR: folder,
        PORT: `${port}`,
        PROVIDER: behind.url,
        COMMAND: join(import.meta.dirname, "command.ts"),
        SOCKET: socket,
        PATH: [join(here, "node_modules/.bin"), join(root, "node_modules/.bin"), process.env.PATH].join(
          delimiter,
        ),
        ...env,
      },
    );
    const parts = text.split(/^=== (\S+)\n/m);
    const came = new Map(
      parts.flatMap((name, i) => (i % 2 === 1 ? [[name, parts[i + 1] ?? ""] as const] : [])),
    );
    return { code, text, came };
  } finally {
    await answering.close();
    await behind.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
