/**
 * A command line run in the test's own process, and its working folder: for all that need no signal, no pipe and no fresh
 * reading of a module. A process of its own takes a second before its first word.
 */
import { Writable } from "node:stream";
import { createIo } from "../../src/cli/output.ts";
import { runCommand } from "../../src/cli/program.ts";

function collected(): { readonly stream: Writable; text(): string } {
  let text = "";
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return { stream, text: () => text };
}

/** What a process of its own would have said, and its exit code. */
export async function inProcess(
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [out, err] = [collected(), collected()];
  const code = await runCommand(args, createIo(args, { out: out.stream, err: err.stream }));
  return { code, out: out.text(), err: err.text() };
}
