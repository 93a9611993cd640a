/**
 * What an iteration will take, tried before the first one: a few tokens are sampled and one group is trained on, on a copy
 * of the policy and with conversations of the evaluation before training, and scaled to the planned episodes. The run's
 * models and random streams stay as they are.
 */
import { mean } from "../common/statistics/statistics.ts";
import { batchOf } from "../common/tokens/pack.ts";
import type { Batch } from "../core/batch.ts";
import type { Loss, Model } from "../core/model.ts";
import type { Method } from "../core/slots.ts";
import type { Trajectory, TurnTokens } from "../core/types.ts";
import type { RunSettings } from "./config.ts";

/** Seconds of an iteration without evaluations, and the most memory that the process has held. */
export interface IterationCost {
  readonly seconds: number;
  readonly bytes: number;
}

/** Why there is no estimate, to follow "no estimate: ". */
export interface NoEstimate {
  readonly why: string;
}

/** Largest share of the planned training that the trial may take. */
const share = 0.03;
/** Seconds for compiling the trial's programs, about. */
const compiling = 2;
/** Tokens that the trial samples in each row, at most. */
const sampled = 6;
/** Seconds of training that measure a small model well enough. */
const enough = 0.25;

/** What is measured lasts at least as many milliseconds, in repetitions. */
const leastMs = 50;

/** The most memory that this process has held, in bytes. */
export const peakMemory = (): number => process.resourceUsage().maxRSS * 1024;

/** The turns of an episode in tokens. */
type Played = readonly TurnTokens[];

/**
 * @param played the evaluation before training. @param seconds how long it took.
 * @returns why not, where the method decides during the iteration what it plays and trains, where a trial costs money, and where
 * it would take more than 3 % of the training.
 */
export async function estimateIteration(
  { policy, settings }: { readonly policy: Model; readonly settings: RunSettings },
  played: readonly Trajectory[],
  seconds: number,
): Promise<IterationCost | NoEstimate> {
  const plan = planOf(settings, policy);
  if ("why" in plan) return plan;
  const episodes = played.filter((t) => t.turns.length > 0 && t.turns.every(({ tokens }) => tokens));
  if (episodes.length === 0) return { why: "no episode of the evaluation has the tokens of all its turns" };
  const { iterations, budgetSeconds = Number.POSITIVE_INFINITY } = settings;
  const began = performance.now();
  /** @param left seconds that the trial still takes. @param iteration seconds of an iteration, as far as is known. */
  const isTooLong = (left: number, iteration: number): boolean =>
    (performance.now() - began) / 1000 + left > share * Math.min(budgetSeconds, iterations * iteration);
  // an update takes about twice as long as the episodes, and the trial makes a part of it twice
  const rough = (3 * seconds * plan.tasks * plan.groupSize) / episodes.length;
  const groups = groupsToTry(plan, rough);
  const updating = (iteration: number): number => (4 / 3) * iteration * (groups / plan.tasks);
  if (isTooLong(compiling + rough / 4 + updating(rough), rough)) return tooLong;

  const copy = await policy.fork("fresh");
  try {
    const rollout = await rolloutSeconds(copy, episodes.map(tokensOf), plan, settings.concurrency);
    if (isTooLong(updating(3 * rollout), 3 * rollout)) return tooLong;
    const update = await updateSeconds(copy, episodes, plan, groups);
    return { seconds: rollout + update, bytes: peakMemory() };
  } finally {
    await copy.dispose();
  }
}

type Plan = NonNullable<Method["plan"]>;

const tooLong: NoEstimate = { why: `a trial would take more than ${100 * share} % of the training` };

function planOf({ method, engine, staleness }: RunSettings, policy: Model): Plan | NoEstimate {
  if (engine.remoteState) return { why: "the policy is on a server, where a trial costs what training does" };
  if (!policy.can.has("train")) return { why: "the policy has no weights to train" };
  if (!policy.can.has("fork")) return { why: "the engine makes no copy of the policy to try it on" };
  if (staleness > 0) return { why: "episodes are played while earlier ones are trained on" };
  return method.plan ?? { why: "the method decides on the way what it plays, or has further models" };
}

/** Groups of the training trial: of a small model several, since one alone is mostly overhead. */
function groupsToTry({ tasks, minibatches }: Plan, rough: number): number {
  const perGroup = ((2 / 3) * rough) / tasks;
  return Math.max(1, Math.min(Math.ceil(tasks / minibatches), Math.floor(enough / perGroup)));
}

const tokensOf = ({ turns }: Trajectory): Played => turns.flatMap(({ tokens }) => tokens ?? []);

/** Reads prompts and samples a few tokens in as many rows as an iteration samples at once. */
async function rolloutSeconds(
  model: Model,
  episodes: readonly Played[],
  { tasks, groupSize }: Plan,
  concurrency: number,
): Promise<number> {
  const count = tasks * groupSize;
  const rows = Math.min(concurrency, count);
  const grouped = Array.from({ length: rows }, (_, row) => {
    return episodes[Math.floor(row / groupSize) % episodes.length]![0]!.prompt;
  });
  const acted = mean(episodes.map((turns) => turns.reduce((n, { action }) => n + action.length, 0)));
  const take = (prompts: readonly Int32Array[], maxTokens: number): Promise<number> =>
    timed(() => model.sample(prompts.map((prompt, seed) => ({ prompt, maxTokens, seed }))));
  const longest = Math.max(2, Math.ceil(Math.min(sampled, acted)));
  const whole = await take(grouped, longest);
  const reading = await take(grouped, 1);
  const step = Math.max(0, whole - reading) / (longest - 1);

  // a group reads its first prompt together; later ones are every episode's own
  const later = episodes.flatMap(([_, ...turns]) => turns.map(({ prompt }) => prompt));
  const every = Math.ceil(later.length / groupSize);
  const some = later.filter((_, i) => i % every === 0);
  const perPrompt = some.length > 0 ? (await take(some, 1)) / some.length : 0;
  return (count / rows) * (reading + step * acted) + (count / episodes.length) * later.length * perPrompt;
}

/** Repeats one conversation of about the mean length in groups: how long training takes depends on lengths alone. */
async function updateSeconds(
  model: Model,
  episodes: readonly Trajectory[],
  { tasks, groupSize, epochs, minibatches }: Plan,
  groups: number,
): Promise<number> {
  const lengths = episodes.map((t) => tokensOf(t).reduce((n, { action }) => n + action.length, 0));
  const typical = mean(lengths);
  const distance = lengths.map((n) => Math.abs(n - typical));
  const like = episodes[distance.indexOf(Math.min(...distance))]!;
  const batch = repeated(like, groups * groupSize);
  const passing = (await timed(() => model.accumulate(batch, nothing, null))) / groups;
  const stepping = await timed(() => model.step({ learningRate: 0 }));
  return epochs * (tasks * passing + minibatches * stepping);
}

/** Rows with the same tokens share their prompt, as those of a group do. */
function repeated(like: Trajectory, count: number): Batch {
  const copies = Array.from({ length: count }, (_, i) => ({ ...like, id: `${i}` }));
  const targets = tokensOf(like).reduce((n, { action }) => n + action.length, 0);
  const units = copies.map(({ id }) => ({ id, group: id, members: [id] }));
  return batchOf(copies, units, new Map(copies.map(({ id }) => [id, new Float32Array(targets).fill(1)])))
    .batch;
}

/** Any loss whose gradient is not zero takes as long. */
const nothing: Loss<null> = {
  name: "trial",
  together: "row",
  wants: () => ({}),
  evaluate: ({ logp }) => ({ loss: 0, cotangents: { logp: logp.map(() => 1) }, stats: {} }),
};

/** Mean of as many times as one lasts long enough to be measured, after a first that compiles its programs. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  await work();
  const began = performance.now();
  let times = 0;
  do {
    await work();
    times++;
  } while (performance.now() - began < leastMs);
  return (performance.now() - began) / 1000 / times;
}
