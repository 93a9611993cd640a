/** `node command.ts SOCKET ARGUMENTS…` lets `commands.ts` run a command line in this folder with these variables. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";

export interface Asked {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Answered {
  readonly code: number;
  readonly said: string;
}

if (import.meta.main) {
  const [path = "", ...args] = process.argv.slice(2);
  const socket = connect({ path, allowHalfOpen: true });
  socket.end(JSON.stringify({ args, cwd: process.cwd(), env: process.env } satisfies Asked));
  const { code, said }: Answered = JSON.parse(await text(socket));
  process.stdout.write(said);
  process.exitCode = code;
}
