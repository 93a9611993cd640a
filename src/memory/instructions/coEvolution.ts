/** Co-evolution of instructions and policy from the same rewards, as pieces of a method. */

import { z } from "zod";
import { mapById } from "../../common/mapById.ts";
import { mean } from "../../common/statistics/statistics.ts";
import type { Ctx, Memory } from "../../core/context.ts";
import type { Json } from "../../core/json.ts";
import type { Random } from "../../core/random.ts";
import type { AnnotatedExperience, Rollout, Update } from "../../core/slots.ts";
import { type Id, paid, type Task, type Trajectory } from "../../core/types.ts";
import { instructionSet } from "./artefact.ts";
import { type Attempt, drawnAttempts, remembered } from "./attempts.ts";
import { credited, type DrawOptions, drawnFrom, type Instruction, replaced } from "./population.ts";

/** Input of an instruction proposer. */
export interface InstructionWish {
  /** The best first. */
  readonly members: readonly Instruction[];
  /** Bad attempts, with their instructions. */
  readonly attempts: readonly Attempt[];
  /** Requested number of instructions; a proposer may return fewer. */
  readonly count: number;
  readonly random: Random;
}
export type InstructionProposer = (wish: InstructionWish) => Promise<readonly string[]>;

/** Settings of {@link coEvolved}. */
export interface CoEvolutionOptions {
  /** Initial instructions; an empty one adds no text. */
  readonly first: readonly string[];
  readonly propose: InstructionProposer;
  /** The update that trains the policy. */
  readonly each: Update;
  /** Attempts at each training task, all with the same instruction. Default 8. */
  readonly groupSize?: number;
  readonly temperature?: number;
  /** Settings of drawing an instruction. */
  readonly draw?: DrawOptions;
  /** η, the weight of the newest group in an instruction's moving average. Default 0.1. */
  readonly rate?: number;
  /** K, iterations between evolutions; Infinity for none. Default 20. */
  readonly every?: number;
  /** Largest number of instructions replaced per evolution, among those drawn at least `leastDraws` times. Default 1, and 3. */
  readonly replaces?: number;
  readonly leastDraws?: number;
  /** M, number of candidates, and number of episodes on training tasks in which each is verified. Default 4, and 8. */
  readonly candidates?: number;
  readonly verification?: number;
  /** B, number of bad attempts shown to the proposer, and size of their buffer. Default 4, and 64. */
  readonly shown?: number;
  readonly kept?: number;
}

const populationKey = "instructions";
const attemptsKey = "attempts";
/** First attempt number of verification episodes. */
const verifying = 1_000_000;
/** Temperature τ of drawing bad attempts, in units of the reward. */
const badness = 0.2;

/**
 * For each training task one instruction is drawn for the whole group, since a group's baseline must compare actions, not
 * instructions. Rewards train the policy and update the instruction's weight. Every K iterations the proposer writes
 * candidates from bad attempts; those that work best with the current policy replace the worst instructions.
 *
 *     p(I) = 0.9 · exp(w / τ) / Σ exp(w / τ) + 0.1 / N        w ← (1 − η) w + η · mean reward of the group
 *
 * An instruction is applied as the system message. The one with the highest weight is the current artefact, so evaluation
 * uses it. A written instruction that leaks a held-out task is refused. Verification episodes are counted like all others.
 * Stats: instruction.mean and instruction.best (weights), instructions.joined.
 * Paper: "Agentic Policy Optimization via Instruction-Policy Co-Evolution".
 */
export function coEvolved(options: CoEvolutionOptions): {
  readonly rollout: Rollout;
  readonly update: Update;
} {
  const { groupSize = 8, rate = 0.1, every = 20, kept = 64, each } = options;
  return {
    async rollout(ctx) {
      const members = membersOf(ctx, options);
      const episodes = ctx.tasks.flatMap((task) => {
        const { text } = chosen(ctx, members, task.id, options);
        return Array.from({ length: groupSize }, (_, attempt) => played(ctx, task, text, attempt, options));
      });
      const trajectories = (await Promise.all(episodes)).flat();
      const units = trajectories
        .filter((t) => t.end.kind !== "failed" && t.turns.length > 0)
        .map((t) => ({ id: t.id, group: t.task, members: [t.id] }));
      return { trajectories, units };
    },
    async update(ctx, batch, objectives, annotated) {
      const before = membersOf(ctx, options);
      const learnt = await each(ctx, batch, objectives, annotated);
      const { members, attempts } = judged(ctx, before, annotated, options, rate);
      const buffer = remembered(attemptsIn.parse(ctx.memory.get(attemptsKey) ?? []), attempts, kept);
      const due = (ctx.clock.iteration + 1) % every === 0;
      const after = due ? await evolved(ctx, members, buffer, options) : members;
      ctx.memory.set(populationKey, plain(after));
      inForce(ctx, after);
      ctx.memory.set(attemptsKey, plain(buffer));
      const weights = after.map(({ weight }) => weight);
      const ids = new Set(members.map(({ id }) => id));
      return {
        ...learnt,
        "instruction.mean": mean(weights),
        "instruction.best": Math.max(...weights),
        "instructions.joined": after.filter(({ id }) => !ids.has(id)).length,
      };
    },
  };
}

/** The population in a run's memory; undefined before the end of the first iteration. */
export function populationIn(memory: Pick<Memory, "get">): readonly Instruction[] | undefined {
  const kept = memory.get(populationKey);
  return kept === undefined ? undefined : membersIn.parse(kept);
}

const membersOf = (ctx: Ctx, { first }: CoEvolutionOptions): readonly Instruction[] =>
  populationIn(ctx.memory) ??
  first.map((text, i) => ({ id: `first/${i}`, text, weight: 0, draws: 0, from: [] }));

/** The instruction of a task's group in this iteration; repeated calls give the same one. */
const chosen = (
  ctx: Ctx,
  members: readonly Instruction[],
  task: Id,
  { draw }: CoEvolutionOptions,
): Instruction => drawnFrom(members, ctx.random.split("instruction", task), draw);

function played(
  ctx: Ctx,
  task: Task,
  text: string,
  attempt: number,
  { temperature }: CoEvolutionOptions,
): Promise<readonly Trajectory[]> {
  return ctx.play({
    task: task.id,
    artefact: instructionSet({ text, from: [] }),
    attempt,
    ...(temperature === undefined ? {} : { temperature }),
  });
}

/** Updates the weights of instructions from the groups' rewards, and collects their attempts for the buffer. */
function judged(
  ctx: Ctx,
  before: readonly Instruction[],
  { trajectories, units }: AnnotatedExperience,
  options: CoEvolutionOptions,
  rate: number,
): { readonly members: readonly Instruction[]; readonly attempts: readonly Attempt[] } {
  const byId = mapById(trajectories);
  let members = before;
  const attempts: Attempt[] = [];
  for (const [task, group] of Map.groupBy(units, (unit) => unit.group)) {
    const { id, text } = chosen(ctx, before, task, options);
    const own = group.flatMap((unit) => unit.members.flatMap((member) => byId.get(member) ?? []));
    members = credited(members, id, mean(own.map(paid)), rate);
    const asked = ctx
      .task(task)
      .prompt.map(({ content }) => content)
      .join("\n");
    for (const t of own) {
      const reply = t.turns.map(({ action }) => action.content).join("\n");
      attempts.push({ trajectory: t.id, task, asked, instruction: text, reply, reward: paid(t) });
    }
  }
  return { members, attempts };
}

/** Proposes candidates, verifies them with the current policy, and replaces the worst instructions by the best candidates. */
async function evolved(
  ctx: Ctx,
  members: readonly Instruction[],
  buffer: readonly Attempt[],
  options: CoEvolutionOptions,
): Promise<readonly Instruction[]> {
  const { propose, replaces = 1, leastDraws = 3, candidates = 4, verification = 8, shown = 4 } = options;
  const random = ctx.random.split("evolution");
  const attempts = drawnAttempts(buffer, shown, badness, random.split("attempts"));
  const from = attempts.map(({ trajectory }) => trajectory);
  const texts = await propose({
    members: members.toSorted((a, b) => b.weight - a.weight),
    attempts,
    count: candidates,
    random: random.split("propose"),
  });
  const known = new Set(members.map(({ text }) => text));
  const fresh = texts.filter((text) => !known.has(text) && known.add(text) && mayBeUsed(ctx, { text, from }));
  const tried = fresh.map(async (text, c) => {
    const episodes = Array.from({ length: verification }, (_, i) =>
      played(ctx, ctx.tasks[i % ctx.tasks.length]!, text, verifying + c * verification + i, options),
    );
    const rewards = (await Promise.all(episodes))
      .flat()
      .filter(({ end }) => end.kind !== "failed")
      .map(paid);
    return { id: `${ctx.clock.iteration}/${c}`, text, from, reward: rewards.length > 0 ? mean(rewards) : 0 };
  });
  const best = (await Promise.all(tried)).toSorted((a, b) => b.reward - a.reward).slice(0, replaces);
  return replaced(members, best, leastDraws);
}

/** Whether an instruction leaks no held-out task; if so, it is recorded in the run. */
const mayBeUsed = (ctx: Ctx, written: Pick<Instruction, "text" | "from">): boolean =>
  "id" in proposed(ctx, written, "written from attempts that went badly");

/** Makes the instruction with the highest weight the current artefact, which evaluation uses. */
function inForce(ctx: Ctx, members: readonly Instruction[]): void {
  const best = members.filter(({ draws }) => draws > 0).toSorted((a, b) => b.weight - a.weight)[0];
  const version = best && proposed(ctx, best, `earned most of late: ${best.weight.toFixed(3)}`);
  if (version && "id" in version) ctx.artefacts.adopt(version.id);
}

function proposed(ctx: Ctx, written: Pick<Instruction, "text" | "from">, why: string) {
  const artefact = instructionSet(written);
  return ctx.artefacts.propose({
    name: "instructions",
    artefact,
    parents: [],
    why,
    origins: artefact.origins,
  });
}

const membersIn = z.array(
  z.object({
    id: z.string(),
    text: z.string(),
    weight: z.number(),
    draws: z.number(),
    from: z.array(z.string()),
  }),
);
const attemptsIn = z.array(
  z.object({
    trajectory: z.string(),
    task: z.string(),
    asked: z.string(),
    instruction: z.string(),
    reply: z.string(),
    reward: z.number(),
  }),
);

/** Plain JSON for the run's memory. */
const plain = (value: readonly (Instruction | Attempt)[]): Json => JSON.parse(JSON.stringify(value));
