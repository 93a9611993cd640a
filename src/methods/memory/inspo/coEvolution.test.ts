import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import type { Chat } from "../../../core/chat.ts";
import { randomStream } from "../../../core/random.ts";
import type { Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { codewords } from "../../../env/codewords.ts";
import { instructionVersions } from "../../../memory/instructions/artefact.ts";
import {
  type CoEvolutionOptions,
  coEvolved,
  type InstructionWish,
  populationIn,
} from "../../../memory/instructions/coEvolution.ts";
import type { Instruction } from "../../../memory/instructions/population.ts";
import { chatInstructions } from "../../../memory/instructions/proposers.ts";
import { method } from "../../../method/method.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { minibatches } from "../../../update/minibatches.ts";
import { inspo } from "./method.ts";

interface Seen {
  readonly trajectories: readonly Trajectory[];
  readonly stats: Readonly<Record<string, number>>;
  readonly members: readonly Instruction[];
}

/** Training under these instructions; what was seen after each iteration, and what the proposer was told. */
async function trained(options: Partial<CoEvolutionOptions>, iterations: number) {
  const seen: Seen[] = [];
  const wishes: InstructionWish[] = [];
  const recipe = method({
    id: "test",
    family: "memory",
    summary: "test",
    says: ["be a b c d fresh"],
    slots: () =>
      coEvolved({
        first: ["be a", "be b", ""],
        groupSize: 4,
        each: minibatches({ step: { learningRate: 0.1 } }),
        propose: async (wish) => {
          wishes.push(wish);
          return ["be fresh", "be a"];
        },
        ...options,
      }),
  });
  const { counters } = await trainInMemory({
    environment: codewords({ questions: 4, length: 2, vocabulary: 3 }),
    method: recipe.build({ tasks: 4 }),
    engine: tabularEngine(),
    seed: 5,
    iterations,
    onIteration: ({ experience, stats }, { memory }) => {
      const members = populationIn({ get: (key) => memory[key] });
      seen.push({ trajectories: experience.trajectories, stats, members: members ?? [] });
    },
  });
  return { seen, wishes, counters };
}

const told = ({ turns }: Trajectory): string =>
  turns[0]!.prompt.find(({ role }) => role === "system")?.content ?? "";

test("coEvolved: a group shares one instruction, as its system message; different groups draw their own", async () => {
  const { seen } = await trained({}, 4);
  const used = new Set<string>();
  for (const { trajectories } of seen) {
    for (const group of Map.groupBy(trajectories, ({ task }) => task).values()) {
      assert.equal(group.length, 4);
      assert.equal(new Set(group.map(told)).size, 1);
      used.add(told(group[0]!));
    }
  }
  assert.deepEqual([...used].sort(), ["", "be a", "be b"]);
});

test("coEvolved: each group is one draw of its instruction, which earns an exponential mean of what it was paid", async () => {
  const { seen } = await trained({ rate: 0.5 }, 1);
  const [{ trajectories, members }] = seen as [Seen];
  assert.equal(
    members.reduce((sum, { draws }) => sum + draws, 0),
    4,
  );
  const groups = [...Map.groupBy(trajectories, ({ task }) => task).values()];
  for (const { text, draws, weight } of members) {
    const own = groups.filter(([first]) => told(first!) === text);
    assert.equal(draws, own.length);
    const expected = own.reduce((w, group) => {
      const paid = group.map(({ turns }) => turns[0]!.rewards.outcome!);
      return 0.5 * w + 0.5 * (paid.reduce((a, b) => a + b, 0) / 4);
    }, 0);
    assert.ok(Math.abs(weight - expected) < 1e-6, `${text}: ${weight} is not ${expected}`);
  }
});

test("coEvolved: every K iterations the worst makes room for a candidate, whose trials are counted", async () => {
  const { seen, wishes, counters } = await trained({ every: 3, leastDraws: 1, verification: 5, shown: 2 }, 4);
  assert.deepEqual(
    seen.map(({ stats }) => stats["instructions.joined"]),
    [0, 0, 1, 0],
  );
  assert.equal(wishes.length, 1);
  assert.equal(wishes[0]!.attempts.length, 2);
  const texts = seen[2]!.members.map(({ text }) => text);
  assert.equal(texts.length, 3);
  assert.ok(texts.includes("be fresh"));
  // four iterations of 4 · 4 episodes, and five of the candidate that is not in the population already
  assert.equal(counters.episodes, 4 * 16 + 5);
});

test("instructionVersions: the best first, and what was written from episodes names them", async () => {
  const { seen, wishes } = await trained({ every: 3, leastDraws: 1, shown: 2 }, 3);
  const [best, ...others] = instructionVersions(seen[2]!.members, "prompt", 1);
  const weights = seen[2]!.members.map(({ weight }) => weight);
  assert.match(best!.why, new RegExp(`^earned ${Math.max(...weights).toFixed(3)} of late`));
  const fresh = [best!, ...others].find(({ artefact }) => artefact.system === "be fresh");
  assert.equal(fresh!.origins.by, "reflection");
  assert.deepEqual(
    fresh!.origins.trajectories,
    wishes[0]!.attempts.map(({ trajectory }) => trajectory),
  );
  const ids = new Set(seen.flatMap(({ trajectories }) => trajectories.map(({ id }) => id)));
  assert.ok(fresh!.origins.trajectories.every((id) => ids.has(id)));
  const old = [best!, ...others].find(({ artefact }) => artefact.system !== "be fresh");
  assert.deepEqual([old!.origins.by, old!.origins.trajectories], ["person", []]);
});

test("coEvolved: equal seeds, equal populations; no evolution where none is wished", async () => {
  const [once, again] = await Promise.all([trained({ every: 2 }, 4), trained({ every: 2 }, 4)]);
  assert.deepEqual(
    once.seen.map(({ members }) => members),
    again.seen.map(({ members }) => members),
  );
  const still = await trained({ every: Number.POSITIVE_INFINITY }, 4);
  assert.equal(still.wishes.length, 0);
  assert.equal(still.counters.episodes, 64);
});

test("inspo: trains as it is", async () => {
  const { counters } = await trainInMemory({
    environment: codewords({ questions: 2, length: 2, vocabulary: 3 }),
    method: inspo.build({ tasks: 2, groupSize: 2 }),
    engine: tabularEngine(),
    seed: 1,
    iterations: 21,
  });
  // an evolution after the 20th iteration: up to four candidates in eight episodes each
  const verified = (counters.episodes ?? 0) - 21 * 4;
  assert.ok([8, 16, 24, 32].includes(verified), `${verified}`);
});

test("chatInstructions: shows what was earned and what went badly; a reply that does not fit is one proposal less", async () => {
  const heard: string[] = [];
  const replies: readonly unknown[] = [{ analysis: "x", instruction: "Be exact." }, { analysis: "y" }];
  const spent = { calls: 0, cachedCalls: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
  const chat: Chat = {
    id: "scripted",
    spent: () => spent,
    reply: async () => assert.fail("it asks for data"),
    ask: async <T>({ messages }: { messages: readonly { content: string }[] }, schema: z.ZodType<T>) => {
      heard.push(messages[0]!.content);
      return schema.safeParse(replies[heard.length - 1]).data;
    },
  };
  const texts = await chatInstructions(chat)({
    members: [{ id: "a", text: "Be brief.", weight: 0.25, draws: 4, from: [] }],
    attempts: [
      { trajectory: "t0", task: "t", asked: "2 + 2", instruction: "Be brief.", reply: "5", reward: 0 },
    ],
    count: 2,
    random: randomStream(1),
  });
  assert.deepEqual(texts, ["Be exact."]);
  assert.match(heard[0]!, /\(earned 0\.25\) Be brief\.[\s\S]*Asked: 2 \+ 2\nReply: 5\nEarned: 0\.00/);
});
