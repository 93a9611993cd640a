/** Finished runs, one JSON object a line, so that an interrupted measurement goes on where it was. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { replaceFile } from "../../src/common/files/files.ts";
import type { Run, RunKey } from "./run.ts";

export interface Kept {
  find(key: RunKey): Run | undefined;
  add(run: Run): void;
}

const nameOf = ({ world, method, accuracy, learningRate, seed, budget }: RunKey): string =>
  JSON.stringify([world, method, accuracy, learningRate, seed, budget]);

/** A last line that was cut off by a kill is dropped, from the file as well. */
export async function keptIn(path: string): Promise<Kept> {
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  const rest = lines.pop() ?? "";
  if (rest !== "") await replaceFile(path, lines.map((line) => `${line}\n`).join(""));
  mkdirSync(dirname(path), { recursive: true });
  const runs = new Map(
    lines.map((line) => {
      const run = JSON.parse(line) as Run;
      return [nameOf(run), run];
    }),
  );
  return {
    find: (key) => runs.get(nameOf(key)),
    add(run) {
      appendFileSync(path, `${JSON.stringify(run)}\n`);
      runs.set(nameOf(run), run);
    },
  };
}
