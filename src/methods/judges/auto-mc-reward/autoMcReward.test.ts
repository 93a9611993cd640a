import assert from "node:assert/strict";
import { test } from "node:test";
import { ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { obeysTheLaws } from "../../../../test/env/laws.ts";
import type { Json } from "../../../core/json.ts";
import { randomStream } from "../../../core/random.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { directions } from "../../../env/grids.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { type Authors, accepted, type DesignRequest } from "./design.ts";
import { type DesignedRewardOptions, designedReward, designStateOf } from "./designedReward.ts";
import { startName } from "./fromStart.ts";
import { byHand, given, scriptedAuthors } from "./grammar.ts";
import { gridFields, lavaGrid } from "./lavaGrid.ts";
import { designedSlots } from "./method.ts";
import { authorsBy } from "./modelAuthors.ts";
import { type Fields, paid, ranReward, seenText } from "./rewardCode.ts";

const at = (row: number, on = "ground"): Fields => ({
  row,
  column: 0,
  diamondRow: 5,
  diamondColumn: 0,
  lavaNear: 0,
  on,
});

test("only signs are paid, so that no size that an author invents matters", () => {
  // 1 · sgn(50) + 0.1 · sgn(−1000)
  assert.equal(paid({ sparse: 50, dense: -1000 }, 0.1), 0.9);
  assert.equal(paid({ sparse: -0.001, dense: 1e-9 }, 0.1), -0.9);
  assert.equal(Object.is(paid({ sparse: -0, dense: 0 }, 0.1), 0), true);
});

test("code sees pairs of states in order, and a memory that is empty at the beginning of each episode", async () => {
  const code = `function reward(before, after, memory) {
    memory.seen = (memory.seen ?? 0) + 1;
    return { dense: after.row - before.row, sparse: memory.seen };
  }`;
  const ran = await ranReward(code, [[at(0), at(2), at(1)], [at(4), at(4)], [at(3)]]);
  assert.deepEqual(ran, {
    kind: "ok",
    said: [
      [
        { dense: 2, sparse: 1 },
        { dense: -1, sparse: 2 },
      ],
      [{ dense: 0, sparse: 1 }],
      [],
    ],
  });
});

test("code that cannot be used is an error in words, and sees nothing of this process", async () => {
  const two = [[at(0), at(1)]];
  const said = async (body: string, more = ""): Promise<string> => {
    const ran = await ranReward(`function reward(before, after, memory) { ${body} }${more}`, two);
    return ran.kind === "error" ? ran.message : "ok";
  };
  assert.match(await said("return {"), /SyntaxError/);
  assert.match(await said("return { dense: before.block.name, sparse: 0 };"), /TypeError/);
  assert.match(await said("return { dense: before.unknown - 1, sparse: 0 };"), /finite numbers/);
  assert.match(await said("return { dense: 0 };"), /finite numbers/);
  assert.match(await said("for (;;) {}"), /ran for more than/);
  for (const name of ["process", "require", "fetch", "Date", "WebAssembly"])
    assert.equal(
      await said(`return { dense: typeof ${name} === "undefined" ? 1 : NaN, sparse: 0 };`),
      "ok",
      name,
    );
  // states are frozen: what one call writes no other one reads
  assert.equal(await said("after.row = 9; return { dense: after.row === 1 ? 1 : NaN, sparse: 0 };"), "ok");
  // the code may replace what the calls use, but not pay for transitions that there are not
  assert.match(
    await said("return { dense: 0, sparse: 0 };", "Array.prototype.map = () => [[[1, 1], [1, 1]]];"),
    /finite numbers/,
  );
});

const uncounted = () => {
  const counts: Record<string, number> = {};
  const count = (name: string, amount: number): void => {
    counts[name] = (counts[name] ?? 0) + amount;
  };
  return { counts, ctx: ctxOf({ count, random: randomStream(1) }) };
};
const once = { drafts: 3, weight: 0.1, random: randomStream(1) };
const request: DesignRequest = { task: "get the diamond", fields: at(0) };
const walk = [
  [at(0), at(1), at(2), at(1)],
  [at(3), at(4), at(5, "diamond")],
  [at(2), at(3, "lava")],
];
const wrongWay = byHand.replace("dense += ", "dense -= ");

test("a draft that fails in the sandbox or before the critic goes back with the reason", async () => {
  const { counts, ctx } = uncounted();
  const asked: (string | undefined)[] = [];
  const drafts = ["function reward( {", wrongWay, byHand];
  const authors: Authors = {
    designer: {
      name: "in turn",
      write: async ({ refused }) => {
        asked.push(refused?.why);
        return drafts[asked.length - 1];
      },
    },
    critic: scriptedAuthors(0).critic,
  };
  assert.equal(await accepted(ctx, authors, request, walk, once), byHand);
  assert.equal(asked[0], undefined);
  assert.match(asked[1] ?? "", /SyntaxError/);
  assert.match(asked[2] ?? "", /away from the diamond pay more/);
  // three drafts, and two reviews
  assert.deepEqual(counts, { "judge.calls": 5 });
});

test("no draft is accepted after the last one; without review the first is taken as it is", async () => {
  const { ctx } = uncounted();
  const authors = { ...given(wrongWay), critic: scriptedAuthors(0).critic };
  assert.equal(await accepted(ctx, authors, request, walk, once), undefined);
  assert.equal(await accepted(ctx, given(wrongWay), request, walk, once), wrongWay);
  assert.equal(await accepted(ctx, given("no code"), request, walk, once), undefined);
  assert.equal(await accepted(ctx, given("no code"), request, walk, { ...once, reviewed: false }), "no code");
});

test("authors that do not answer are counted, and a silent critic leaves the verdict to the sandbox", async () => {
  const { counts, ctx } = uncounted();
  const critic = { name: "silent", critique: async () => undefined };
  assert.equal(await accepted(ctx, { ...given(byHand), critic }, request, walk, once), byHand);
  assert.deepEqual(counts, { "judge.calls": 2, "judge.failures": 1 });
  const designer = { name: "silent", write: async () => undefined };
  assert.equal(await accepted(ctx, { designer }, request, walk, once), undefined);
  assert.deepEqual(counts, { "judge.calls": 5, "judge.failures": 4 });
});

test("authors in words: fenced code, a review by its first word, any text as analysis", async () => {
  const asked: string[] = [];
  const replies = [
    "```js\nfunction reward() {}\n```",
    "No, it pays for lava.",
    "Yes.",
    "perhaps",
    "they fell",
  ];
  const { designer, critic, analyser } = authorsBy(async (question) => {
    asked.push(question);
    return replies[asked.length - 1];
  });
  const call = { random: randomStream(1) };
  const previous = { code: "old code", success: 0.25, analysis: "they wander" };
  assert.equal(
    await designer.write({ ...request, previous, refused: { code: "draft", why: "lava is paid" } }, call),
    "function reward() {}",
  );
  for (const part of [
    "get the diamond",
    "old code",
    "0.25",
    "they wander",
    "draft",
    "lava is paid",
    '"lavaNear":0',
  ])
    assert.ok(asked[0]!.includes(part), part);
  const draft = { request, code: byHand, samples: [{ frames: walk[2]!, paid: [-0.9] }] };
  assert.deepEqual(await critic!.critique(draft, call), {
    text: "No, it pays for lava.",
    outcome: "failure",
  });
  assert.deepEqual(await critic!.critique(draft, call), { text: "Yes.", outcome: "success" });
  assert.equal(await critic!.critique(draft, call), undefined);
  assert.deepEqual(await analyser!.critique(draft.samples, call), { text: "they fell" });
});

const memoryOf = () => {
  const kept = new Map<string, Json>();
  return {
    get: (key: string) => kept.get(key),
    set: (key: string, value: Json) => void kept.set(key, value),
  };
};
const attempt = (id: string, rows: readonly number[], success: boolean) =>
  trajectoryOf(
    id,
    rows.map((row) => turnOf([1], [2], { prompt: [{ role: "user", content: String(row) }] })),
    { end: { kind: "done", reason: "over", success } },
  );
const plain: DesignedRewardOptions = {
  authors: given("function reward(a, b) { return { dense: b.text - a.text, sparse: 0 }; }"),
  rounds: 2,
  iterations: 2,
  gain: -1,
  drafts: 1,
  weight: 0.1,
  failures: 1,
  last: 2,
};

/** Plays iterations of the feedback on the same two attempts, with the given successes of the first. */
async function rounds(options: DesignedRewardOptions, successes: readonly boolean[]) {
  const memory = memoryOf();
  const states = [];
  let values: (number | string)[][] = [];
  for (const [iteration, success] of successes.entries()) {
    const ctx = ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      random: randomStream(iteration),
      memory,
    });
    const trajectories = [attempt("a", [1, 3, 2], success), attempt("b", [5, 5], false)];
    const signals = await designedReward(options)(ctx, { trajectories, units: [] }, {});
    values = signals.map((s) => [
      s.about[0]!.trajectory,
      s.about[0]!.turn!,
      s.kind === "reward" ? s.value : Number.NaN,
    ]);
    states.push(designStateOf(ctx)!);
  }
  return { states, values };
}

test("a transition is paid to the action that made it, and the last action, whose outcome is not seen, gets 0", async () => {
  const { values } = await rounds(plain, [true]);
  assert.deepEqual(values, [
    ["a", 0, 0.1],
    ["a", 1, -0.1],
    ["a", 2, 0],
    ["b", 0, 0],
    ["b", 1, 0],
  ]);
});

test("a round is measured in its second half, failures are analysed, the best version is revised and stays at last", async () => {
  const asked: DesignRequest[] = [];
  const read: number[][] = [];
  const authors: Authors = {
    designer: {
      name: "versions",
      async write(request) {
        asked.push(request);
        return `function reward() { return { dense: ${asked.length}, sparse: 0 }; }`;
      },
    },
    analyser: {
      name: "reader",
      critique: async (failures) => {
        read.push(failures.map(({ frames, paid: rewards }) => frames.length * 10 + rewards.length));
        return { text: "too slow" };
      },
    },
  };
  // the first round wins 1 of 2 in its second half, the second none: the first version comes back
  const { states } = await rounds({ ...plain, authors }, [false, true, true, false, false]);
  assert.deepEqual(
    states.map(({ round, since, settled, restart }) => [round, since, settled, restart]),
    [
      [1, 0, false, null],
      [2, 2, false, 1],
      [2, 2, false, 1],
      [2, 4, true, 3],
      [2, 4, true, 3],
    ],
  );
  assert.equal(asked.length, 2);
  assert.deepEqual(asked[1]!.previous, { code: states[0]!.code, success: 0.5, analysis: "too slow" });
  assert.equal(states[4]!.code, states[0]!.code);
  // one failure each time, its last two states, and the reward between them
  assert.deepEqual(read, [[21], [21]]);
});

test("a version that gains too little is the last one, and the one in use goes on without a restart", async () => {
  const early = await rounds({ ...plain, rounds: 9, gain: 0.1 }, [true, true, true, true, true]);
  assert.deepEqual(
    early.states.map(({ round, settled }) => [round, settled]),
    [
      [1, false],
      [2, false],
      [2, false],
      [2, true],
      [2, true],
    ],
  );
  // the same code as the best one: nothing to begin again
  assert.equal(early.states[3]!.restart, null);
});

test("without an accepted draft the environment's rewards are paid; code that fails later pays nothing and is counted", async () => {
  const memory = memoryOf();
  const counts: Record<string, number> = {};
  const run = (options: DesignedRewardOptions, rows: readonly number[], kept = memory) =>
    designedReward(options)(
      ctxOf({
        random: randomStream(1),
        memory: kept,
        count: (name, amount) => {
          counts[name] = (counts[name] ?? 0) + amount;
        },
      }),
      {
        trajectories: [
          trajectoryOf(
            "a",
            rows.map((row) =>
              turnOf([1], [2], { prompt: [{ role: "user", content: `${row}` }], rewards: { outcome: 1 } }),
            ),
          ),
        ],
        units: [],
      },
      {},
    );
  const own = await run({ ...plain, authors: given("nonsense(") }, [1, 2]);
  assert.deepEqual(
    own.map((s) => [s.source, s.kind === "reward" && s.value]),
    [
      ["environment", 1],
      ["environment", 1],
    ],
  );
  const throws =
    "function reward(a) { if (a.text === '7') throw new Error('seven'); return { dense: 1, sparse: 0 }; }";
  const other = memoryOf();
  assert.equal((await run({ ...plain, authors: given(throws) }, [1, 2], other)).length, 2);
  counts["judge.failures"] = 0;
  assert.deepEqual(await run({ ...plain, authors: given(throws) }, [7, 2], other), []);
  assert.equal(counts["judge.failures"], 1);
});

test("what was seen is the field of a state by default", () => {
  assert.deepEqual(seenText(turnOf([4, 5], [1])), { text: "4 5" });
});

test("a new round begins with the weights that the policy began with", async () => {
  const moves: readonly string[] = directions;
  const { curve } = await trainInMemory({
    environment: lavaGrid({ side: 6, lava: 3, turns: 10 }),
    method: method({
      id: "m",
      family: "judges",
      summary: "s",
      frozen: { [startName]: {} },
      slots: (s) =>
        designedSlots(s, { ...plain, authors: given(byHand), fieldsOf: gridFields, discount: 0.97 }),
    }).build({ ...plainAscent, tasks: 2, groupSize: 4, learningRate: 100 }),
    engine: tabularEngine({ context: "message", prior: (_, word) => (moves.includes(word) ? 0 : -1e9) }),
    seed: 1,
    iterations: 4,
    contextTokens: 512,
  });
  // four actions equally likely at first, fewer after the first update, all four again in the second round
  const entropies = curve.map(({ entropy }) => entropy ?? Number.NaN);
  for (const [i, even] of [true, false, true, false].entries())
    assert.equal(Math.abs(entropies[i]! - Math.log(4)) < 1e-6, even, `${entropies}`);
});

obeysTheLaws(() => lavaGrid({ side: 6, lava: 4, turns: 16 }), { garbage: 0.5 });

test("the scripted designer adds what the analysis names first, and its critic accepts code that is right", async () => {
  const { designer, critic } = scriptedAuthors(0);
  const call = { random: randomStream(3) };
  const previous = { code: "", success: 0, analysis: "add avoid, approach, explore" };
  const first = (await designer.write({ ...request, previous }, call))!;
  assert.ok(first.includes("/* avoid */") && !first.includes("/* approach */"));
  const second = (await designer.write({ ...request, previous: { ...previous, code: first } }, call))!;
  assert.ok(second.includes("/* avoid */") && second.includes("/* approach */"));
  const { ctx } = uncounted();
  assert.equal(await accepted(ctx, { ...given(second), critic }, request, walk, once), second);
});

test("a scripted designer that always errs writes nothing that sandbox and critic accept", async () => {
  const { ctx } = uncounted();
  const authors = scriptedAuthors(1);
  const got = [];
  for (let seed = 0; seed < 20; seed++)
    got.push(
      await accepted(ctx, authors, request, [...walk, [at(1), at(2), at(1), at(2)]], {
        ...once,
        random: randomStream(seed),
      }),
    );
  assert.deepEqual(new Set(got), new Set([undefined]));
});
