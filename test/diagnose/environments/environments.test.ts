/** Every broken environment is named by its fault before training, and none is trained in without a word. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { isWhetstoneError } from "../../../src/core/errors.ts";
import {
  type EnvironmentReport,
  examine,
  reportOf,
  requireSound,
  requireSoundTasks,
} from "../../../src/diagnose/environment/validate.ts";
import { localCodec } from "../../../src/engine/local/index.ts";
import { tabularEngine } from "../../../src/engine/tabular/engine.ts";
import { defineEnvironment, type Environment } from "../../../src/env/environment.ts";
import { environments } from "../../../src/env/index.ts";
import { grpo } from "../../../src/methods/baseline/grpo/method.ts";
import type { RunEvent } from "../../../src/train/events.ts";
import { train } from "../../../src/train/run.ts";
import { folder } from "../../train/world.ts";
import { parcels, play, user } from "./parcels.ts";

/** What is said of each: its severity, its check and words of it. */
const faults: Readonly<Record<string, readonly ["error" | "warning", string, RegExp]>> = {
  "no-train": ["error", "splits", /no split "train"; there are: test/],
  "empty-train": ["error", "splits", /tasks\("train"\) is empty/],
  "empty-test": ["warning", "splits", /tasks\("test"\) is empty/],
  "equal-splits": ["warning", "splits", /All 24 tasks of "test" are in "train" as well/],
  "overlapping-splits": ["warning", "splits", /6 of the 24 tasks of "test" are in "train"/],
  "equal-but-for-ids": ["warning", "splits", /All 24 tasks of "test" are in "train" as well/],
  "train-only": ["warning", "splits", /No split is held out: there is only train/],
  "duplicate-ids": ["error", "tasks", /24 tasks with 10 different ids; "parcel-0" comes more than once/],
  "promised-tasks": ["error", "tasks", /tasks\("train"\) returns a promise/],
  "other-tasks-each-time": ["error", "tasks", /returns other tasks at every call/],
  "metadata-function": ["error", "tasks", /tasks\("train"\)\[0\], metadata.solve is a function/],
  "metadata-date": ["error", "tasks", /metadata.due.at is a Date/],
  "text-prompt": ["error", "tasks", /\[0\], prompt: expected array, received string/],
  "answer-for-reference": ["error", "tasks", /unknown "answer".*the gold answer into `reference`/],
  "nan-reward": ["error", "episodes", /act\(\) returned rewards\.outcome = NaN; expected a finite number\./],
  "infinite-reward": [
    "error",
    "episodes",
    /act\(\) returned rewards\.speed = Infinity; expected a finite number\./,
  ],
  "unnamed-reward": ["error", "episodes", /act\(\) returned rewards = \d; expected an object\./],
  "gym-step": [
    "error",
    "episodes",
    /unknown "reward", "done".*Write rewards: \{ outcome: … \} in place of `reward`, and end: \{ kind: "done".* in place of `done`\./,
  ],
  "no-step": [
    "error",
    "episodes",
    /act\(\) returned nothing; expected a step: \{ rewards\?, text\?, end\? \}\./,
  ],
  "unknown-role": [
    "error",
    "episodes",
    /observe\(\) returned the role "assistant"; expected one of the environment's roles: agent/,
  ],
  "text-observation": [
    "error",
    "episodes",
    /observe\(\) returned observation\.messages = "hello"; expected a list\./,
  ],
  "no-episode": [
    "error",
    "episodes",
    /start\(\) returned .*; expected an episode with observe\(\) and act\(\)\./,
  ],
  "start-throws": ["error", "episodes", /start\(\) threw: no database/],
  "start-hangs": ["error", "episodes", /start\(\) took longer than 0\.3 s/],
  "act-throws": ["error", "episodes", /act\(\) threw: Cannot read properties/],
  "act-hangs": ["error", "episodes", /act\(\) took longer than 0\.3 s/],
  "never-ends": ["warning", "endings", /None of \d+ episodes ended by itself/],
  "success-unsaid": ["warning", "endings", /said whether it was a success/],
  "constant-reward": ["warning", "rewards", /earned a reward of exactly/],
  "upside-down-reward": [
    "warning",
    "rewards",
    /Rewards contradict success: \d+ episodes that succeeded earned -1/,
  ],
  "prompt-too-long": ["error", "context", /fill the context of 128 tokens.*--context-tokens above 4/],
  "unknown-words": ["warning", "vocabulary", /cannot write 1 word that right actions need: "look"/],
  "no-vocabulary": ["error", "vocabulary", /Give the environment a `vocabulary`/],
  "other-episode-each-time": ["warning", "claims", /gave another episode/],
  "replay-differs": ["error", "claims", /The ability replay is declared/],
  "legal-refused": [
    "error",
    "claims",
    /was listed as legal in task .*, and refused: ".* is not allowed here"/,
  ],
  "expert-fails": [
    "warning",
    "claims",
    /The expert fails in \d+ of \d+ tasks, first in "parcel-0", saying "south"/,
  ],
  "expert-throws": [
    "warning",
    "claims",
    /expert\(\) threw: no map of the docks \(in \d of \d tasks, first in "parcel-0"\)/,
  ],
  "ability-missing": ["error", "claims", /no `expert` player/],
  "ability-unknown": ["error", "claims", /no ability "replays"/],
  "reply-too-long": ["warning", "context", /longer than limits\.actionTokens, 1; the longest has 3 tokens/],
};

/** What a run says in other words: it has seen too few episodes before it begins. */
const inTraining: Readonly<Record<string, RegExp>> = {
  "constant-reward": /succeeded in 100 % of the tasks before any training/,
  "upside-down-reward": /No episode of 3 iterations was a success/,
};

const here = import.meta.dirname;
const loaded = async (file: string): Promise<Environment> =>
  ((await import(file)) as { readonly default: Environment }).default;
/** One that blocks its thread cannot be loaded into ours: `validate` itself is asked about it. */
const blocking = "start-blocks";
const broken = globSync(join(here, "broken/*"))
  .map((file) => [basename(file).replace(/\.[jt]s$/, ""), file] as const)
  .filter(([name]) => name !== blocking)
  .sort();

test("every fixture is expected to fail for something", () => {
  assert.deepEqual(
    broken.map(([name]) => name),
    Object.keys(faults).sort(),
  );
  assert.ok(broken.length >= 25);
});

for (const [name, file] of broken) {
  const [severity, check, words] = faults[name] ?? ["error", "", /^$/];

  test(`${name}: the fault is named`, async () => {
    const environment = await loaded(file);
    const codec = await localCodec(undefined, environment.vocabulary?.() ?? []);
    const report = reportOf(await examine(environment, { episodes: 6 }), { codec, contextTokens: 128 });
    const found = report.findings.find((f) => f.check === check && words.test(`${f.problem} ${f.fix}`));
    assert.ok(found, JSON.stringify(report.findings, null, 1));
    assert.equal(found.severity, severity);
    assert.equal(report.checks.find((c) => c.check === check)?.state, "found");
  });

  test(`${name}: no run ends in a table without a word`, async () => {
    const engine = tabularEngine();
    const environment = await loaded(file);
    const method = grpo.build({ tasks: 4, groupSize: 4, learningRate: 0.1 });
    const events: RunEvent[] = [];
    const out = join(folder(), "run");
    const options = { environment, method, engine, iterations: 3, out, evaluation: { tasks: 6, every: 0 } };
    const { signal } = new AbortController();
    try {
      await train(options, (event) => void events.push(event), signal);
    } catch (e) {
      assert.ok(isWhetstoneError(e), String(e));
      assert.equal(severity, "error", e.message);
      assert.match(e.message, words);
      return;
    }
    assert.equal(severity, "warning");
    const said = events.flatMap((e) => {
      if (e.type === "warning") return [e.message];
      return e.type === "done" ? e.health.findings.map(({ problem }) => problem) : [];
    });
    const meant = inTraining[name] ?? words;
    assert.ok(
      said.some((line) => meant.test(line)),
      JSON.stringify(said),
    );
  });
}

const passes = async (environment: Environment): Promise<EnvironmentReport> => {
  const codec = await localCodec(undefined, environment.vocabulary?.() ?? []);
  const report = reportOf(await examine(environment), { codec, contextTokens: 128 });
  assert.deepEqual(report.findings, [], environment.name);
  assert.ok(report.checks.every(({ state }) => state === "passed"));
  return report;
};

test("sound environments pass: the repository's own", async () => {
  const names = [
    "facts",
    "text-maze",
    "wordle",
    "countdown",
    "tool-chains",
    "contextual-bandit",
    "car-dealer",
  ];
  for (const { name, make } of environments) if (names.includes(name)) await passes(make());
});

test("sound environments pass: of two roles, and an agent function", async () => {
  for (const name of ["bargain", "sums"]) await passes(await loaded(join(here, `sound/${name}.ts`)));
});

test("what is measured of a sound environment", async () => {
  const report = await passes(parcels());
  assert.deepEqual(report.splits, [
    { name: "train", tasks: 24, trained: 24 },
    { name: "validation", tasks: 6, trained: 0 },
    { name: "test", tasks: 12, trained: 0 },
  ]);
  const [expert, random] = report.players;
  assert.equal(expert?.success.mean, 1);
  assert.equal(expert?.turns, 2);
  assert.ok(random && random.success.mean < 0.7 && random.failed === 0);
  // "<user> a parcel has come <end> <assistant>"
  assert.deepEqual(report.prompts, { median: 7, most: 7 });
  assert.deepEqual(report.replies, { median: 1, most: 1 });
});

/** The command in a process of its own, as it prints and ends. */
function validated(...args: string[]) {
  const main = join(here, "../../../src/cli/main.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, "validate", ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("whetstone validate: sound, broken, blocking and absent environments end with their exit codes", () => {
  const sound = validated(join(here, "sound/bargain.ts"), "--json");
  assert.equal(sound.status, 0, sound.stderr);
  assert.match(sound.stderr, /No problems found in 8 checks/);
  assert.deepEqual(JSON.parse(sound.stdout).findings, []);

  const faulty = validated(join(here, "broken/gym-step.js"));
  assert.equal(faulty.status, 1);
  assert.match(faulty.stdout, /error: .*unknown "reward", "done"/);
  assert.match(faulty.stdout, /1 error in 5 checks/);

  const still = validated(join(here, `broken/${blocking}.ts`));
  assert.equal(still.status, 1);
  assert.match(still.stdout, /start\(\) in task "parcel-0" blocked its thread for more than 0\.3 s/);

  const absent = validated("facs");
  assert.equal(absent.status, 2);
  assert.match(absent.stderr, /Did you mean facts\?/);
});

test("what a run refuses reads as sentences; what only plays does not speak of training", async () => {
  const environment = await loaded(join(here, "broken/nan-reward.ts"));
  const { findings } = await examine(environment, { episodes: 2 });
  assert.throws(
    () => requireSound("parcels", findings),
    (e) =>
      isWhetstoneError(e) &&
      /^environment "parcels": 4 of 4 episodes failed \(first: the expert player in task "parcel-0", saying "look"\): act\(\) returned rewards\.outcome = NaN; expected a finite number\. Correct what act\(\) returns\. .*`whetstone validate` shows everything\.$/.test(
        e.message,
      ) &&
      !/got|train|teach|\.,/.test(e.message),
  );
  // without a split to train, an environment can be played
  await requireSoundTasks(await loaded(join(here, "broken/no-train.ts")));
  await requireSoundTasks(await loaded(join(here, "broken/empty-train.ts")));
});

test("where time ran out, it is said how much was played, and what was not looked at", async () => {
  const slow = parcels({
    limits: { turns: 3, actionTokens: 3, seconds: 5 },
    start: async (task) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      return play(task);
    },
  });
  const report = reportOf(await examine(slow, { episodes: 6, seconds: 0.5, needAll: true }));
  const found = report.findings.find(({ check }) => check === "episodes");
  assert.match(
    found?.problem ?? "",
    /^Only 2 of 12 episodes were played in 0\.5 s; the slowest call was start\(\) in task "parcel-\d+", 0\.\d+ s\.$/,
  );
  assert.equal(found?.severity, "warning");
  const states = Object.fromEntries(report.checks.map(({ check, state }) => [check, state]));
  assert.deepEqual([states.rewards, states.claims], ["not measured", "not measured"]);
  // a run takes a short look, and leaves it at that
  const look = reportOf(await examine(slow, { episodes: 6, seconds: 0.5 }));
  assert.deepEqual(look.findings, []);
});

test("metadata has the author's own type, without a cast", async () => {
  interface Parcel {
    readonly weight: number;
  }
  const typed = defineEnvironment<Parcel>({
    name: "weights",
    summary: "say the weight",
    abilities: new Set(["expert"]),
    roles: ["agent"],
    splits: ["train", "test"],
    limits: { turns: 1, actionTokens: 1 },
    tasks: (split) =>
      [1, 2, 3].map((weight) => ({
        id: `${split}-${weight}`,
        prompt: [user(`${split} ${weight}`)],
        metadata: { weight },
        seed: 1,
      })),
    start: async ({ metadata }) => ({
      observe: async () => ({ role: "agent", observation: { messages: [] } }),
      act: async ({ content }) => {
        const success = content === metadata.weight.toFixed();
        return { rewards: { outcome: Number(success) }, end: { kind: "done", reason: content, success } };
      },
    }),
    vocabulary: () => ["train test 1 2 3"],
    expert: ({ metadata }) => metadata.weight.toFixed(),
  });
  const weight: number = typed.tasks("train")[0]!.metadata.weight;
  const plain: Environment = typed;
  assert.equal(weight, 1);
  await passes(plain);
  const [task] = typed.tasks("train");
  // @ts-expect-error other metadata does not fit
  const other: Parcel = { ...task!.metadata, weight: "heavy" };
  assert.ok(other);
});

test("a run whose attempts all earn the same reward says so, by the metrics that a run writes", async () => {
  const environment = await loaded(join(here, "broken/never-ends.ts"));
  const engine = tabularEngine();
  const method = grpo.build({ tasks: 4, groupSize: 4, learningRate: 0.1 });
  const out = join(folder(), "run");
  const evaluation = { tasks: 4, every: 0 };
  const { signal } = new AbortController();
  const done = await train({ environment, method, engine, iterations: 5, out, evaluation }, () => {}, signal);
  const found = done.health.findings.map(({ check }) => check);
  for (const check of ["environment", "truncated", "rewarded", "groups"])
    assert.ok(found.includes(check), check);
});
