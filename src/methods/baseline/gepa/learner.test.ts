import assert from "node:assert/strict";
import { test } from "node:test";
import { batchOfRows, ctxOf, trajectoryOf, turnOf } from "../../../../test/core/make.ts";
import { emptyInstructions } from "../../../common/artefacts/mergeArtefacts.ts";
import { writtenBy } from "../../../common/artefacts/origins.ts";
import { asReserved } from "../../../common/artefacts/reserved.ts";
import type { InstructionSet } from "../../../core/artefact.ts";
import type { Chat } from "../../../core/chat.ts";
import { WhetstoneError } from "../../../core/errors.ts";
import { randomStream } from "../../../core/random.ts";
import type { Stats, Task, Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codeOf, codewords } from "../../../env/codewords.ts";
import { method } from "../../../method/method.ts";
import { artefactsIn, currentArtefact, proposedArtefacts } from "../../../train/artefacts.ts";
import { freshState } from "../../../train/state.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { reflectiveSearch } from "./learner.ts";
import { reflectingWith } from "./method.ts";
import type { ReflectiveSearchOptions } from "./options.ts";
import { poolKey } from "./pool.ts";
import { chatReflector, quoting, type ReflectionWish } from "./reflector.ts";

const options = { questions: 12, same: true, says: true, length: 2, vocabulary: 3, seed: 4 } as const;
const environment = codewords(options);
const words = ["w0", "w1", "w2"];
const told = ({ turns }: Trajectory): string =>
  turns[0]!.prompt.find(({ role }) => role === "system")?.content ?? "";

/** A policy that does what a line "w1 at 2" says, and else anything. */
const obedient = tabularEngine({
  context: "message",
  prior: (_context, word) => (words.includes(word) ? 0 : -1e9),
  reading: {
    isRead: (message) => message.includes(" at "),
    shift: (messages, reply, word) =>
      messages.some((text) => text.split("\n").includes(`${word} at ${reply.length + 1}`)) ? 20 : 0,
  },
});

const silent = await obedient.create({ id: "silent", seed: 1, vocabulary: words, contextTokens: 8 });

interface Seen {
  readonly trajectories: readonly Trajectory[];
  readonly stats: Stats;
  readonly members: readonly { readonly id: string; readonly parents: readonly string[] }[];
}

async function searched(search: ReflectiveSearchOptions, iterations: number) {
  const seen: Seen[] = [];
  const recipe = method({
    id: "test",
    family: "baseline",
    summary: "test",
    weightFree: true,
    says: ["\n", "at 1 2"],
    defaults: { tasks: 3, groupSize: 1 },
    slots: (settings) => reflectingWith(settings, { reserved: 4, ...search }),
  });
  const done = await trainInMemory({
    environment,
    method: recipe.build(),
    engine: obedient,
    seed: 3,
    iterations,
    onIteration: ({ experience, stats }, { memory }) => {
      const { members } = JSON.parse(JSON.stringify(memory[poolKey]));
      seen.push({ trajectories: experience.trajectories, stats, members });
    },
  });
  return { seen, ...done };
}

const [first, second] = codeOf(environment.tasks("train")[0]!);
const right = [`${first} at 1`, `${second} at 2`];
const wrong = words.find((word) => word !== first)!;
const wrongNext = words.find((word) => word !== second)!;

test("reflectiveSearch: what earns more joins and is played; what earns no more is left", async () => {
  const texts = [`${wrong} at 1\n${wrongNext} at 2`, right[0]!, right.join("\n")];
  const wishes: ReflectionWish[] = [];
  const { seen, counters, policy } = await searched(
    {
      reflect: async (wish) => {
        wishes.push(wish);
        return texts[wishes.length - 1];
      },
    },
    4,
  );
  // the first proposal spoils both words: it earns nothing
  assert.equal(seen[0]!.stats.joined, 0);
  assert.equal(seen[2]!.stats["score.best"], 1, "the whole code");
  const last = seen[3]!;
  assert.equal(last.stats.proposals, 0, "a perfect minibatch is nothing to learn from");
  assert.ok(last.trajectories.every((t) => told(t) === right.join("\n")));
  assert.equal(last.members.length, 1 + seen.filter(({ stats }) => stats.joined === 1).length);
  // 3 tasks an iteration, 4 held back at the beginning; 3 for each proposal, and 4 more for each that joined
  const joined = seen.filter(({ stats }) => stats.joined === 1).length;
  assert.equal(counters.episodes, 4 * 3 + 4 + 3 * 3 + 4 * joined);
  assert.equal(policy.version, "0", "no weight was touched");
  assert.match(wishes[0]!.attempts[0]!.transcript, /user: q0\nturn 1, agent: w/);
});

test("reflectiveSearch: training and selection share no task, and every version knows its parents and attempts", async () => {
  const { seen } = await searched({ reflect: quoting() }, 6);
  const trained = new Set(seen.flatMap(({ trajectories }) => trajectories.map(({ task }) => task)));
  assert.equal(trained.size, 12 - 4);
  const { members } = seen.at(-1)!;
  assert.deepEqual(members[0]!.parents, []);
  for (const [i, { parents }] of members.entries())
    assert.ok(parents.every((id) => members.slice(0, i).some((one) => one.id === id)));
});

test("reflectiveSearch: what is too long, what is the same, and silence are refused and played nowhere", async () => {
  const replies = ["w".repeat(41), "", undefined];
  let asked = 0;
  const { seen, counters } = await searched({ reflect: async () => replies[asked++], characters: 40 }, 3);
  assert.deepEqual(
    seen.map(({ stats }) => stats["proposals.refused"]),
    [1, 1, 1],
  );
  assert.equal(counters.episodes, 3 * 3 + 4);
});

/** Kinds of task that want different texts: one in the system text spoils the other kind, unless a tool is described. */
async function twoKinds(iterations: number, fails: (set: InstructionSet) => boolean = () => false) {
  const taskOf = (id: string): Task => ({
    id,
    prompt: [{ role: "user", content: id }],
    metadata: {},
    seed: 1,
  });
  const training = [
    ...["a1", "a2", "b1"].map(taskOf),
    ...["a3", "a4", "b2", "b3"].map(taskOf).map(asReserved),
  ];
  const reward = (task: string, { system, tools }: InstructionSet): number =>
    task.startsWith("a") ? (system === "A" ? 1 : 0.5) : tools.code === "B" ? 1 : system === "A" ? 0 : 0.5;
  const state = freshState("train");
  const { rollout, update } = reflectiveSearch({
    first: { ...emptyInstructions, tools: { code: "" } },
    reflect: async ({ component }) => (component === "system text" ? "A" : "B"),
  });
  const stats: Stats[] = [];
  for (let iteration = 0; iteration < iterations; iteration++) {
    const ctx = ctxOf({
      clock: { iteration, phase: "train", step: 0 },
      random: randomStream(7).split("iteration", iteration),
      tasks: training,
      memory: { get: (key) => state.memory[key], set: (key, value) => void (state.memory[key] = value) },
      artefacts: artefactsIn(
        state,
        () => [],
        () => {},
      ),
      model: () => silent,
      play: async ({ task, artefact }) => {
        const id = typeof task === "string" ? task : task.id;
        const set =
          typeof artefact === "object" && artefact.kind === "instructions" ? artefact : emptyInstructions;
        const turn = turnOf([], [1], { rewards: { outcome: reward(id, set) } });
        const more = fails(set)
          ? { end: { kind: "failed", boundary: "model", message: "no reply" } as const }
          : {};
        return [trajectoryOf(`${iteration} ${id}`, [turn], { task: id, ...more })];
      },
    });
    const { trajectories, units } = await rollout(ctx);
    const evidence = { trajectories, units, notes: {}, signals: [], channels: {} };
    stats.push(await update(ctx, batchOfRows([]), [], evidence));
  }
  return { stats, current: currentArtefact(state), versions: proposedArtefacts(state) };
}

test("reflectiveSearch: texts are rewritten in turn, and two that changed different ones are merged", async () => {
  const { stats, current, versions } = await twoKinds(12);
  const merges = stats.flatMap((one, i) => (one.merged === 1 ? [i] : []));
  assert.equal(merges.length, 1);
  assert.equal(stats[merges[0]!]!["score.best"], 1, "both kinds");
  assert.equal(stats[merges[0]! - 1]!.joined, 1, "only after an iteration that found one");
  assert.ok(stats[merges[0]! - 1]!["score.best"]! < 1);
  assert.deepEqual(
    current?.artefact.kind === "instructions" && [current.artefact.system, current.artefact.tools.code],
    ["A", "B"],
  );
  assert.equal(current?.parents.length, 2);
  assert.ok(current?.parents.every((id) => versions.some((one) => one.id === id)));
});

test("reflectiveSearch: a merge of which every episode failed has nothing that speaks for it", async () => {
  const { stats, current } = await twoKinds(12, ({ system, tools }) => system === "A" && tools.code === "B");
  assert.ok(stats.some(({ merged }) => merged === 0));
  assert.ok(stats.every(({ merged = 0 }) => merged === 0));
  assert.ok(current?.artefact.kind === "instructions");
  assert.notDeepEqual([current.artefact.system, current.artefact.tools.code], ["A", "B"]);
});

test("quoting: what was said of all but the best attempts, once each, the oldest lines leave first", async () => {
  const attempt = (reward: number, feedback: string | undefined) => ({
    trajectory: "t",
    transcript: "",
    feedback,
    reward,
  });
  const wish = {
    component: "system text",
    text: "a\nb",
    hints: [],
    characters: 100,
    random: randomStream(1),
    attempts: [attempt(1, "praise"), attempt(0, "b\nc"), attempt(0.5, "d"), attempt(0, undefined)],
  };
  assert.equal(await quoting()(wish), "a\nb\nc\nd");
  assert.equal(await quoting({ lines: 3 })(wish), "b\nc\nd");
  assert.equal(await quoting()({ ...wish, characters: 5 }), "b\nc\nd");
  assert.equal(await quoting()({ ...wish, text: "b\nc\nd" }), undefined, "nothing new");
  assert.equal(await quoting()({ ...wish, characters: -1 }), "", "other texts take more than all the room");
  const hint = {
    id: "h",
    kind: "comment" as const,
    prompt: [],
    reply: "r",
    said: "be brief",
    origins: writtenBy("person"),
  };
  assert.equal(
    await quoting()({ ...wish, attempts: [attempt(1, undefined)], hints: [hint] }),
    "a\nb\nbe brief",
  );
});

function chatOf(replies: readonly (string | WhetstoneError)[]): Chat & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    id: "test",
    asked,
    async reply({ messages }) {
      asked.push(messages.at(-1)!.content);
      const said = replies[asked.length - 1]!;
      if (typeof said !== "string") throw said;
      return {
        message: { role: "assistant", content: said },
        stop: "eos",
        tokens: { input: 0, output: 0 },
        cached: false,
      };
    },
    ask: async () => undefined,
    spent: () => ({ calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 }),
  };
}
const error = (code: "chat.failed" | "budget.spent"): WhetstoneError =>
  new WhetstoneError(code, { where: "w", got: "g", expected: "e", fix: "m" });

test("chatReflector: reads the fence, asks once more for it, and a spent budget stops the run", async () => {
  const wish: ReflectionWish = {
    component: "system text",
    text: "old",
    attempts: [{ trajectory: "t", transcript: "user: q\nturn 1, agent: w", feedback: "not w", reward: 0 }],
    hints: [],
    characters: 500,
    random: randomStream(1),
  };
  const good = chatOf(["Thus:\n```\nnew\nlines\n```\nDone."]);
  assert.equal(await chatReflector(good)(wish), "new\nlines");
  for (const part of ["old", "turn 1, agent: w", "not w", "500 characters"])
    assert.ok(good.asked[0]!.includes(part));
  const long = chatOf(["```\nnew\n```"]);
  const endless = {
    ...wish.attempts[0]!,
    transcript: `begun${"x".repeat(1e6)}ended`,
    feedback: "y".repeat(1e6),
  };
  await chatReflector(long)({ ...wish, attempts: [endless, endless, endless] });
  assert.ok(long.asked[0]!.length < 60_000, "however long the attempts, the question fits a context");
  assert.ok(long.asked[0]!.includes("begun") && long.asked[0]!.includes("ended"));
  const late = chatOf(["I think so.", "```text\nnew\n```"]);
  assert.equal(await chatReflector(late)(wish), "new");
  assert.equal(await chatReflector(chatOf(["no", "no"]))(wish), undefined);
  assert.equal(await chatReflector(chatOf([error("chat.failed")]))(wish), undefined);
  await assert.rejects(chatReflector(chatOf([error("budget.spent")]))(wish), { code: "budget.spent" });
});
