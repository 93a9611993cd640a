/**
 * Runs a command line in the test's own process, with its working folder: for tests that need no signal, no pipe and no
 * newly loaded module. A child process takes a second to start.
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

/** The output and exit code that a child process would have. */
export async function inProcess(
  args: readonly string[],
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [out, err] = [collected(), collected()];
  const code = await runCommand(args, createIo(args, { out: out.stream, err: err.stream }));
  return { code, out: out.text(), err: err.text() };
}
