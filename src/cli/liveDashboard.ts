/** The dashboard beside a run: in a process of its own that yields to the run, and ends with it. */
import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Io } from "./output.ts";

const windows = process.platform === "win32";

/** Elsewhere than on Windows priority is a thread's: a process has it in all of its threads only when it begins with it. */
const yielding = (program: string, args: readonly string[]): [program: string, args: string[]] =>
  windows ? [program, [...args]] : ["nice", ["-n", "19", program, ...args]];

/** Says where it is once it is there. A dashboard that cannot be is no reason to end a run: that is said, too. */
export function liveDashboard(store: string, io: Io): { close(): void } {
  const main = fileURLToPath(
    new URL(import.meta.url.endsWith(".ts") ? "main.ts" : "main.js", import.meta.url),
  );
  const args = [main, "dashboard", "--store", store, "--port", "0", "--json"];
  const child = spawn(...yielding(process.execPath, args), {
    // Ctrl-C is for the run, which ends the dashboard when it has saved
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said += text.toString();
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { type, url } = JSON.parse(line) as { readonly type: string; readonly url?: string };
    if (type !== "serving" || url === undefined) return;
    io.record({ type: "live", url });
    io.error(`The run can be watched at ${url}`);
  });
  child.on("error", (e) => io.error(`No live page: ${e.message}`));
  child.on("exit", (code) => {
    if (code)
      io.error(`No live page: ${said.trim().split("\n").at(-1) ?? `the dashboard ended with ${code}`}`);
  });
  if (windows && child.pid !== undefined) {
    try {
      setPriority(child.pid, constants.priority.PRIORITY_LOW);
    } catch {
      // it has ended already, which is said above
    }
  }
  const close = (): void => {
    child.kill();
  };
  process.once("exit", close);
  return {
    close() {
      process.off("exit", close);
      close();
    },
  };
}
