/** A command of Whetstone as a process that says records, one JSON object a line. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

export type Said = Readonly<Record<string, unknown>> & { readonly type?: unknown };

export interface Command {
  readonly pid: number;
  /** The next record of one of these types; others are passed over. @throws Error where the command ends before. */
  record(...types: readonly string[]): Promise<Said>;
  /** Once it has ended nothing more happens. */
  stop(): Promise<void>;
}

const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");

export function command(args: readonly string[]): Command {
  const child = spawn(process.execPath, [main, ...args, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  let wrong = "";
  child.stderr.on("data", (text: Buffer) => {
    wrong = (wrong + text.toString()).slice(-1000);
  });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Said | undefined> => {
    const { value, done } = await lines.next();
    return done ? undefined : JSON.parse(value);
  };
  return {
    pid: child.pid ?? 0,
    async record(...types) {
      for (let said = await next(); said; said = await next())
        if (types.includes(String(said.type))) return said;
      await ended;
      throw new Error(`whetstone ${args.join(" ")} ended before it said ${types.join(" or ")}: ${wrong}`);
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}
