/** The order of a check: committed before it runs, a redesign on fresh seeds with half the error, and every run in the log. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { attempt, git, log, requireCommitted } from "../../src/cli/checkProtocol.ts";
import {
  type Arm,
  type CheckEvidence,
  defineCheck,
  type RunCheckOptions,
  runCheck,
} from "../../src/train/check.ts";
import { failsWith } from "../engine/local/support.ts";
import { temporary } from "../temporary.ts";

test("a check that is not committed, or was changed since, is refused before anything runs; so are its worlds", () => {
  const folder = mkdtempSync(join(temporary, "whetstone-protocol-"));
  mkdirSync(join(folder, "worlds"));
  writeFileSync(join(folder, "check.ts"), "export default 1;\n");
  writeFileSync(join(folder, "worlds", "maze.ts"), "export const size = 3;\n");
  const sources = ["check.ts", "worlds/maze.ts"];
  const refuse = (what: RegExp): void =>
    assert.throws(() => requireCommitted("m", folder, sources), failsWith("config.invalid", what));
  const commit = (): void => {
    git(folder, "add", "-A");
    git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "check");
  };
  refuse(/no git repository/);
  git(folder, "init", "-q");
  refuse(/check\.ts, which is not committed/);
  commit();
  requireCommitted("m", folder, sources);
  writeFileSync(join(folder, "worlds", "maze.ts"), "export const size = 4;\n");
  refuse(/maze\.ts, which is not committed/);
  commit();
  requireCommitted("m", folder, sources);
  // what lies beside the sources has no say
  writeFileSync(join(folder, "log.jsonl"), "");
  requireCommitted("m", folder, sources);
});

/** A world of one number: both arms add noise by seed, the method adds an effect too. */
const made = (effect: number, world: number): ((options: RunCheckOptions) => Promise<CheckEvidence>) => {
  const noise = (seed: number): number => Math.sin(seed * 12.9898) * 0.01;
  const arm = (what: string, value: (seed: number) => number): Arm => ({
    what,
    grid: [{}],
    measure: async (_, seed) => ({ value: value(seed), cost: { episodes: 10, tokens: 100 } }),
  });
  const check = defineCheck({
    id: "m",
    level: "table",
    claim: "c",
    metric: "value",
    direction: "higher",
    smallestEffect: 0.01,
    baseline: arm("base", (seed) => world + noise(seed)),
    method: arm("new", (seed) => world + effect + noise(2 * seed)),
  });
  const make = (units: readonly { readonly arm: string; readonly choice: number; readonly seed: number }[]) =>
    Promise.all(units.map(({ arm: name, seed }) => check[name as "method"].measure({}, seed)));
  return (options) => runCheck(check, make, options);
};

test("the same experiment, run again, is no further attempt", async () => {
  const first = await attempt(undefined, made(0.5, 0.2));
  assert.deepEqual([first.attempts, first.evidence.seeds[0], first.evidence.confidence], [1, 1, 0.975]);
  const stored = { ...first.evidence, attempts: first.attempts };
  const again = await attempt(stored, made(0.5, 0.2));
  assert.equal(again.attempts, 1);
  assert.deepEqual(again.evidence, first.evidence);
});

test("changing the world raises the attempts: fresh seeds, and half the error each time", async () => {
  const first = await attempt(undefined, made(0.5, 0.2));
  const second = await attempt({ ...first.evidence, attempts: 1 }, made(0.5, 0.3));
  assert.deepEqual(
    [second.attempts, second.evidence.seeds[0], second.evidence.confidence],
    [2, 1001, 1 - 0.025 / 2],
  );
  const third = await attempt({ ...second.evidence, attempts: 2 }, made(0.4, 0.3));
  assert.deepEqual(
    [third.attempts, third.evidence.seeds[0], third.evidence.confidence],
    [3, 2001, 1 - 0.025 / 4],
  );
  const same = await attempt({ ...third.evidence, attempts: 3 }, made(0.4, 0.3));
  assert.deepEqual([same.attempts, same.evidence.seeds[0]], [3, 2001]);
  // half the error makes a wider interval of the same numbers
  const wide = await made(0.5, 0.3)({ base: 1001, confidence: 0.9875 });
  const narrow = await made(0.5, 0.3)({ base: 1001 });
  assert.ok(wide.interval.high - wide.interval.low > narrow.interval.high - narrow.interval.low);
});

test("the log keeps every run, one line each", () => {
  const folder = mkdtempSync(join(temporary, "whetstone-log-"));
  const digests = { check: "a", world: "b", method: "c", engine: "d" };
  log(folder, { at: "2026-01-01T00:00:00Z", event: "begin", commit: "1", seed: 100, digests });
  log(folder, {
    at: "2026-01-01T00:01:00Z",
    event: "end",
    commit: "1",
    seed: 100,
    digests,
    verdict: "reproduced",
  });
  const lines = readFileSync(join(folder, "log.jsonl"), "utf8").trim().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).event),
    ["begin", "end"],
  );
});
