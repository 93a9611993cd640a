import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createView } from "../../src/cli/live.ts";
import { createIo } from "../../src/cli/output.ts";
import type { RunEvent } from "../../src/train/events.ts";

/** What stands on a terminal after all that was written to it. */
function shownBy(written: string): string[] {
  const lines = [""];
  let [row, column] = [0, 0];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are steered by them
  for (const [whole, private_, count, command] of written.matchAll(/\x1b\[(\??)(\d*)([A-Za-z])|[^\x1b]/g)) {
    const n = Number(count || 1);
    if (private_) continue;
    if (whole === "\n") [row, column] = [row + 1, 0];
    else if (whole === "\r" || command === "G") column = 0;
    else if (command === "A") row = Math.max(0, row - n);
    else if (command === "B") row += n;
    else if (command === "K") lines[row] = count === "2" ? "" : (lines[row] ?? "").slice(0, column);
    else if (command === "J") lines.length = row + 1;
    else if (command === undefined) {
      lines[row] = (lines[row] ?? "").padEnd(column).slice(0, column) + whole;
      column++;
    }
    while (lines.length <= row) lines.push("");
  }
  return lines.map((line) => line.trimEnd()).filter((line) => line !== "");
}

const iteration = (n: number): RunEvent => ({
  ...{ type: "iteration", iteration: n, iterations: 40, reward: 0.5, success: 0.5, turns: 2 },
  ...{ tokensPerSecond: 900, seconds: 1, secondsLeft: 20, metrics: { failed: 0 } },
});

test("a line that is said while a run is drawn stays on the terminal", async () => {
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
  let written = "";
  screen.on("data", (chunk) => (written += chunk));
  const io = createIo([], { out: screen, err: screen });
  const view = await createView(io, screen);
  view.above(() => io.say("Trying the server …"));
  view.show(iteration(1));
  view.above(() => io.error("Saving; Ctrl-C again ends at once."));
  view.show({ type: "interrupted", run: "r", out: "runs/r", iteration: 2 });
  view.close();
  const shown = shownBy(written);
  assert.deepEqual(shown.slice(0, 3), [
    "Trying the server …",
    "Saving; Ctrl-C again ends at once.",
    "interrupted after 2 iterations and saved in runs/r; continue with --resume",
  ]);
  assert.match(shown[3]!, /^━+ 1\/40/);
  assert.equal(shown.length, 6);
});
