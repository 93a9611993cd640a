/** The order of a check: committed before it runs, a redesign on fresh seeds with half the error, and every run in the log. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkFiles, sharedCode } from "../../src/cli/checkFiles.ts";
import {
  attempt,
  firstSeed,
  git,
  type LogEntry,
  log,
  readLog,
  requireCommitted,
} from "../../src/cli/checkProtocol.ts";
import { readEvidence, type StoredEvidence } from "../../src/methods/evidence.ts";
import {
  type Arm,
  type Check,
  type CheckEvidence,
  defineCheck,
  type RunCheckOptions,
  runCheck,
} from "../../src/train/check.ts";
import { failsWith } from "../engine/local/support.ts";
import { temporary } from "../temporary.ts";
import { inProcess } from "./inProcess.ts";

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
  refuse(/worlds\/maze\.ts, which is not committed/);
  commit();
  requireCommitted("m", folder, sources);
  // what lies beside the sources has no say
  writeFileSync(join(folder, "log.jsonl"), "");
  requireCommitted("m", folder, sources);
});

test("code that all checks run is committed too: an edited objective is refused, an edited test is not", () => {
  const folder = mkdtempSync(join(temporary, "whetstone-protocol-"));
  const put = (path: string, text: string): void => {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put("check.ts", "export default 1;\n");
  put("objective/ratio.ts", "export const clip = 0.2;\n");
  git(folder, "init", "-q");
  git(folder, "add", "-A");
  git(folder, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "check");
  const require = (): void => requireCommitted("m", folder, ["check.ts", ...sharedCode]);
  put("objective/ratio.test.ts", "");
  put("arenas/world.ts", "");
  require();
  put("objective/ratio.ts", "export const clip = 0.3;\n");
  assert.throws(require, failsWith("config.invalid", /objective\/ratio\.ts, which is not committed/));
});

interface Made {
  readonly check: Check;
  readonly run: (options: RunCheckOptions) => Promise<CheckEvidence>;
}

/** A world of one number: all arms add noise by seed, the method adds an effect too, the ablation half of it. */
function made(effect: number, world: number, more: Partial<Check> = {}, half = effect / 2): Made {
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
    range: "unbounded",
    simpler: ["half"],
    baseline: arm("base", (seed) => world + noise(seed)),
    method: arm("new", (seed) => world + effect + noise(2 * seed)),
    others: { half: arm("half", (seed) => world + half + noise(3 * seed)) },
    ...more,
  });
  const arms = { ...check.others, baseline: check.baseline, method: check.method };
  const make = (units: readonly { readonly arm: string; readonly choice: number; readonly seed: number }[]) =>
    Promise.all(units.map(({ arm: name, seed }) => arms[name as "method"].measure({}, seed)));
  return { check, run: (options) => runCheck(check, make, options) };
}

/** A folder: the evidence and the log that runs leave in it. */
interface Folder {
  readonly evidence?: StoredEvidence;
  readonly log: readonly LogEntry[];
}
const empty: Folder = { log: [] };

/** Runs a check in a folder, as the command does. @param code names the code; with another name it has other digests. */
async function checked(folder: Folder, { check, run }: Made, code: string): Promise<Required<Folder>> {
  const digests = { check: code, world: "w", method: "m", engine: "e" };
  const log = [...folder.log];
  const { evidence, ...counted } = await attempt(check, { ...folder, digests }, (options) => {
    log.push({ at: "", event: "begin", commit: "", seed: options.base ?? 1, digests });
    return run(options);
  });
  const about = { family: "f", check: code, seconds: 1, commit: "" };
  return { log, evidence: { ...evidence, ...about, ...counted } };
}

const counts = ({ evidence: { attempts, seeds, confidence } }: Required<Folder>) => [
  attempts,
  seeds[0],
  confidence,
];
/** Attempts, first seed and confidence of the first three designs. */
const [first, second, third] = [
  [1, 1, 0.975],
  [2, 1001, 1 - 0.025 / 2],
  [3, 2001, 1 - 0.025 / 4],
];

test("the same experiment, run again, is no further attempt, whatever its words and its code", async () => {
  const one = await checked(empty, made(0.5, 0.2), "a");
  assert.deepEqual(counts(one), first);
  const same = await checked(one, made(0.5, 0.2), "b");
  assert.deepEqual([counts(same), same.evidence.stated], [first, undefined]);
  const words = await checked(same, made(0.5, 0.2, { claim: "d", notes: "n" }), "c");
  assert.deepEqual(counts(words), first);
  // the claim that stood when the seeds were looked at is kept, however often it changes
  assert.deepEqual([words.evidence.claim, words.evidence.stated], ["d", { claim: "c", metric: "value" }]);
  const again = await checked(words, made(0.5, 0.2, { claim: "e" }), "d");
  assert.deepEqual(again.evidence.stated, { claim: "c", metric: "value" });
});

test("changing the world raises the attempts: fresh seeds, and half the error each time", async () => {
  const one = await checked(empty, made(0.5, 0.2), "a");
  const two = await checked(one, made(0.5, 0.3), "b");
  assert.deepEqual(counts(two), second);
  const three = await checked(two, made(0.4, 0.3), "c");
  assert.deepEqual(counts(three), third);
  assert.deepEqual(counts(await checked(three, made(0.4, 0.3), "d")), third);
  // half the error makes a wider interval of the same numbers
  const { run } = made(0.5, 0.3);
  const wide = await run({ base: 1001, confidence: 0.9875 });
  const narrow = await run({ base: 1001 });
  assert.ok(wide.interval.high - wide.interval.low > narrow.interval.high - narrow.interval.low);
});

test("changing what a verdict follows from is a redesign, though every value is the same", async () => {
  const one = await checked(empty, made(0.5, 0.2), "a");
  const changes: readonly Partial<Check>[] = [
    { smallestEffect: 0.001 },
    { direction: "lower" },
    { simpler: ["baseline"] },
    { level: "real" },
  ];
  for (const change of changes) {
    const changed = await checked(one, made(0.5, 0.2, change), "b");
    assert.deepEqual(counts(changed), second, JSON.stringify(change));
    // the old seeds, which were seen, are not run under the new question
    assert.deepEqual(
      changed.log.map(({ seed }) => seed),
      [1, 1001],
    );
  }
  const { simpler: _, ...unasked } = made(0.5, 0.2).check;
  assert.deepEqual(counts(await checked(one, { ...made(0.5, 0.2), check: unasked }, "b")), second);
  // an ablation that does worse than before changes what is said of the ingredient
  assert.deepEqual(counts(await checked(one, made(0.5, 0.2, {}, 0), "b")), second);
  // a lower level claims less
  assert.deepEqual(counts(await checked(one, made(0.5, 0.2, { level: "law" }), "b")), first);
});

test("attempts follow from the log: neither deleted evidence nor a run that was broken off gives seeds back", async () => {
  const one = await checked(empty, made(0.5, 0.2), "a");
  // evidence deleted: other code is a redesign, the same code runs as it did
  assert.deepEqual(counts(await checked({ log: one.log }, made(0.5, 0.3), "b")), second);
  assert.deepEqual(counts(await checked({ log: one.log }, made(0.5, 0.2), "a")), first);
  // broken off on the fresh seeds, without evidence
  const { log } = await checked(one, made(0.5, 0.3), "b");
  const broken = { ...one, log };
  assert.deepEqual(counts(await checked(broken, made(0.5, 0.3), "b")), second);
  assert.deepEqual(counts(await checked(broken, made(0.5, 0.4), "c")), third);
  // back at the first design, the other one stays counted
  assert.equal((await checked(broken, made(0.5, 0.2), "a")).evidence.attempts, 2);
});

test("a trial keeps off the seeds of every report; a run that touched a redesign's seeds moves it on", async () => {
  const kept = failsWith("option.range", /--seed.*kept for what is reported/);
  for (const taken of ["1001", "985", "2020", "20", "0", "999990", "1000000", "x"])
    assert.throws(() => firstSeed(taken), kept, taken);
  // by the command too, with a text that no run can follow from
  const { code, err } = await inProcess(["check", "ppo", "--seed", "x"]);
  assert.equal(code, 2);
  assert.match(err, /--seed.*kept for what is reported/);
  assert.deepEqual(["1", "21", "100", "981", "1021"].map(firstSeed), [1, 21, 100, 981, 1021]);
  const one = await checked(empty, made(0.5, 0.2), "a");
  const touched = { ...one, log: [...one.log, { ...one.log[0]!, seed: 990 }] };
  assert.deepEqual(counts(await checked(touched, made(0.5, 0.3), "b")), third);
  const trial = { ...one, log: [...one.log, { ...one.log[0]!, seed: 100 }] };
  assert.deepEqual(counts(await checked(trial, made(0.5, 0.3), "b")), second);
});

test("in the repository, evidence counts every design of its log and of its history, and no log was cut", () => {
  // a trial of the first design, from seed 101 say, keeps off the seeds of every report
  const designs = (seed: number): number => Math.floor((seed - 1) / 1000) + 1;
  for (const { id, path } of checkFiles()) {
    const e = readEvidence(id);
    const entries = readLog(path);
    for (const seed of [...entries.map((entry) => entry.seed), e?.seeds[0] ?? 1])
      assert.ok((e?.attempts ?? Infinity) >= designs(seed), `${id}: a run from seed ${seed} is not counted`);
    if (e?.confidence === undefined) continue;
    const found = entries.some(
      ({ event, seed, effect }) =>
        event === "end" &&
        seed === e.seeds[0] &&
        Math.abs(effect! - e.effect) <= 1e-5 * Math.abs(e.effect) + 1e-9,
    );
    assert.ok(found, `${id}: the log does not hold the run of its evidence`);
  }
  const history = (...args: string[]): string => git(import.meta.dirname, "log", "--format=", ...args) ?? "";
  // an entry begins with a brace; marks of a merge that got into a log were no entries
  const removed = history("-p", "-U0", "--", ":/src/methods/*/*/log.jsonl")
    .split("\n")
    .filter((line) => line.startsWith("-{"));
  assert.deepEqual(removed, []);
  const most = new Map<string, number>();
  let id = "";
  for (const line of history("-p", "-U0", '-G"attempts"', "--", ":/src/methods/*/*/evidence.json").split(
    "\n",
  )) {
    id = /^\+\+\+ .*\/([^/]+)\/evidence\.json$/.exec(line)?.[1] ?? id;
    const attempts = Number(/^\+ *"attempts": (\d+)/.exec(line)?.[1] ?? 0);
    most.set(id, Math.max(most.get(id) ?? 0, attempts));
  }
  for (const [method, attempts] of most) {
    const now = readEvidence(method)?.attempts;
    assert.ok(now === undefined || now >= attempts, `${method}: ${now} attempts, ${attempts} in its history`);
  }
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
  assert.deepEqual(
    readLog(folder).map(({ event }) => event),
    ["begin", "end"],
  );
});
