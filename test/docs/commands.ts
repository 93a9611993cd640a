/** The command line for a shell, in this process: one of its own takes a second to start. */
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { createIo } from "../../src/cli/output.ts";
import { runCommand } from "../../src/cli/program.ts";
import type { Answered, Asked } from "./command.ts";

async function run({ args, cwd, env }: Asked): Promise<Answered> {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  let said = "";
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      said += chunk.toString();
      done();
    },
  });
  process.chdir(cwd);
  Object.assign(process.env, env);
  try {
    const code = await runCommand(args, createIo(args, { out: sink, err: sink }));
    return { code, said };
  } finally {
    process.chdir(before.cwd);
    for (const name of Object.keys(env)) if (!(name in before.env)) delete process.env[name];
    Object.assign(process.env, before.env);
  }
}

/** Answers `command.ts`, one command at a time. @param path of the socket. */
export async function answerCommands(path: string): Promise<{ close(): Promise<void> }> {
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const asked: Asked = JSON.parse(await text(socket));
    const answered = await run(asked).catch((e: unknown): Answered => ({ code: 1, said: String(e) }));
    socket.end(JSON.stringify(answered));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    async close() {
      await new Promise((resolve) => server.close(resolve));
      rmSync(path, { force: true });
    },
  };
}
