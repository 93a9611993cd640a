/** One JSON object a line: how the harness and those that it measures talk. Mirrored in peers/lines.py. */
import { createInterface } from "node:readline";
import { messageOf } from "../src/core/errors.ts";

/** What to do, in `run`, with its arguments. */
export interface Request {
  readonly run: string;
  readonly [argument: string]: unknown;
}

export type Handlers = Readonly<Record<string, (request: never) => unknown>>;

/** Answers requests from standard input, one after another, until it ends. */
export async function serve(handlers: Handlers): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    let answer: unknown;
    try {
      const request = JSON.parse(line) as Request;
      const handler = handlers[request.run];
      if (!handler) throw new Error(`no run "${request.run}"`);
      answer = await handler(request as never);
    } catch (e) {
      answer = { error: messageOf(e) };
    }
    process.stdout.write(`${JSON.stringify(answer ?? {})}\n`);
  }
}
