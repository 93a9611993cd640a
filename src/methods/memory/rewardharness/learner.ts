/** A judge with an evolving library, as pieces of a method: it first learns from labels, then its scores are the reward. */
import { z } from "zod";
import { mapById } from "../../../common/mapById.ts";
import type { Ctx, Memory } from "../../../core/context.ts";
import { type Able, counted, evaluatorIn } from "../../../core/evaluator.ts";
import type { Json } from "../../../core/json.ts";
import type { Candidate, RubricLibrary } from "../../../core/rubrics.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Experience, Feedback, Update } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";
import { begun, type Evolution, type EvolutionOptions, evolved } from "../../../memory/rubrics/evolve.ts";
import { type LabelledPair, scoredInBothOrders } from "../../../memory/rubrics/orders.ts";
import { rubricVersions } from "./artefact.ts";

/** Settings of {@link rewardHarness}. */
export interface RewardHarnessOptions extends Omit<EvolutionOptions<Candidate>, "describe"> {
  /** Default: empty. */
  readonly first?: RubricLibrary;
  /** Labelled pairs collected before the library evolves; three in five are for training. Default 100. */
  readonly labels?: number;
  /** Iterations of the evolution. Default 40. */
  readonly iterations?: number;
  /** Gives the labels by comparing attempts. Default: the environment. */
  readonly labeller?: Able<"compare">;
  /** The update used for training once the library exists. */
  readonly each: Update;
  /** Default "judge". */
  readonly channel?: string;
}

const rubricsKey = "rubrics";
const labelsKey = "rubric labels";

/**
 * Until enough pairs of attempts are labelled nothing is trained. Then the library evolves against them, and from then on
 * its best snapshot judges every group: each attempt's reward is its score, averaged over both orders. A group with a
 * failed judge call gets no signal. The kept libraries are versions of an artefact, "rubrics".
 *
 * Stats of the update: labels; rubrics and accuracy (of the best snapshot, on validation pairs) once they exist.
 */
export function rewardHarness(options: RewardHarnessOptions): {
  readonly feedback: Feedback;
  readonly update: Update;
} {
  const { first = { rubrics: [] }, labels = 100, iterations = 40, channel = "judge", each } = options;
  return {
    async feedback(ctx, { trajectories, units }) {
      const library = evolutionIn(ctx.memory)?.best.library;
      if (!library) return [];
      const judge = counted(options.judge(library), ctx);
      const byId = mapById(trajectories);
      const groups = [...Map.groupBy(units, ({ group }) => group).values()];
      const judged = groups.map(async (group): Promise<readonly Signal[]> => {
        const members = group.flatMap((unit) => unit.members.flatMap((id) => byId.get(id) ?? []));
        const scores = await scoredInBothOrders(
          judge,
          members.map((t) => candidateOf(ctx, t)),
        );
        return (scores ?? []).map((value, i) => ({
          kind: "score",
          channel,
          about: [{ trajectory: members[i]!.id }],
          value,
          source: "judge",
        }));
      });
      return (await Promise.all(judged)).flat();
    },
    async update(ctx, batch, objectives, annotated) {
      const known = labelled.parse(ctx.memory.get(labelsKey) ?? []);
      const best = evolutionIn(ctx.memory)?.best;
      if (best) {
        const learnt = await each(ctx, batch, objectives, annotated);
        return {
          ...learnt,
          labels: known.length,
          rubrics: best.library.rubrics.length,
          accuracy: best.accuracy,
        };
      }
      const pairs = [...known, ...(await labelsOf(ctx, annotated, options))].slice(0, labels);
      ctx.memory.set(labelsKey, plain(pairs));
      if (pairs.length < labels) return { steps: 0, labels: pairs.length };
      const train = pairs.filter((_, i) => i % 5 < 3);
      const validation = pairs.filter((_, i) => i % 5 >= 3);
      const own = {
        ...options,
        judge: (one: RubricLibrary) => counted(options.judge(one), ctx),
        describe: ({ reply }: Candidate) => reply,
      };
      let state: Evolution = await begun(first, validation, own);
      for (let i = 0; i < iterations; i++)
        state = await evolved(state, train, validation, own, ctx.random.split("rubrics", i));
      ctx.memory.set(rubricsKey, plain(state));
      // for people only: no policy sees the judge's rubrics
      for (const { id: _, created: __, ...version } of rubricVersions(state, "rubrics", 0))
        ctx.artefacts.propose(version);
      const { library, accuracy } = state.best;
      return { steps: 0, labels: pairs.length, rubrics: library.rubrics.length, accuracy };
    },
  };
}

/** The text of a task, and the text of an attempt's turns. */
const candidateOf = (ctx: Ctx, { task, turns }: Trajectory): Candidate => ({
  asked: ctx
    .task(task)
    .prompt.map(({ content }) => content)
    .join("\n"),
  reply: turns.map(({ action }) => action.content).join("\n"),
});

/** Pairs of neighbours in each group, so that pairs are independent. The likelier one is better; ties and equal replies give no label. */
async function labelsOf(
  ctx: Ctx,
  { trajectories, units }: Experience,
  { labeller }: RewardHarnessOptions,
): Promise<readonly LabelledPair<Candidate>[]> {
  const { compare } = evaluatorIn(ctx, labeller ?? ctx.environment);
  const byId = mapById(trajectories);
  const groups = [...Map.groupBy(units, ({ group }) => group).values()];
  const asked = groups.flatMap((group) => {
    const members = group.flatMap((unit) => unit.members.flatMap((id) => byId.get(id) ?? []));
    return members.flatMap(async (first, i): Promise<readonly LabelledPair<Candidate>[]> => {
      const second = members[i + 1];
      if (i % 2 === 1 || !second) return [];
      const [a, b] = [candidateOf(ctx, first), candidateOf(ctx, second)];
      const p =
        a.reply === b.reply
          ? undefined
          : await compare(first, second, ctx.random.split("label", first.id, second.id));
      if (p === undefined || p === 0.5) return [];
      return [p > 0.5 ? { better: a, worse: b } : { better: b, worse: a }];
    });
  });
  return (await Promise.all(asked)).flat();
}

const candidate = z.object({ asked: z.string(), reply: z.string() });
const labelled = z.array(z.object({ better: candidate, worse: candidate }));
const rubric = z.object({ id: z.string(), kind: z.enum(["skill", "tool"]), text: z.string() });
const snapshot = z.object({
  library: z.object({ rubrics: z.array(rubric) }),
  accuracy: z.number(),
  why: z.string(),
});
const evolution = z.object({
  current: snapshot,
  best: snapshot,
  versions: z.array(snapshot),
  iteration: z.number(),
});

/** The evolution in the run's memory; undefined before the first. */
export function evolutionIn(memory: Pick<Memory, "get">): Evolution | undefined {
  const kept = memory.get(rubricsKey);
  return kept === undefined ? undefined : evolution.parse(kept);
}

/** Its form in the run's memory. */
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value));
