import { mean } from "../../../common/statistics/statistics.ts";
import type { Able, Attempt } from "../../../core/evaluator.ts";
import { randomStream } from "../../../core/random.ts";
import { signalValue } from "../../../core/signal.ts";
import { succeeded, type Trajectory } from "../../../core/types.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { trainInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent } from "../../../train/trainingArm.ts";
import { observationsOf, type Submission, submissionOf } from "./evidence.ts";
import { type ProvenRewardOptions, provenReward } from "./provenReward.ts";
import { appFeatures, appPrior, proves, settingsApp } from "./settingsApp.ts";

const [iterations, measured] = [40, 10];

/** A judge by rule. @param full whether it sees the whole trajectory, and so needs no proof, but is confused by all that it sees. */
const judgeOf = (full: boolean): Able<"score"> => ({
  name: "rule",
  score: async (items: readonly Attempt[], { random }) =>
    items.map(({ task, trajectory }) => {
      const shown = trajectory.turns
        .at(-1)!
        .prompt.slice(task.prompt.length)
        .map(({ content }) => content);
      const said = proves(task, shown, random.split(trajectory.id));
      if (!full) return said;
      const truth = succeeded(trajectory);
      const sober = proves(task, shown, { ...randomStream(1), next: () => 0 }).success;
      return { success: Number(said.success === sober ? truth : !truth), valid: 1 };
    }),
});

/** Everything that was shown, whatever the agent chose. */
const everything = (t: Trajectory): Submission | undefined =>
  t.end.kind === "done" ? { message: "submit", shown: observationsOf(t.turns) } : undefined;

const grid = [30, 100, 300].map((learningRate) => ({ learningRate }));

const arm = (what: string, options: Partial<ProvenRewardOptions>, full = false): Arm => {
  const read = full ? everything : submissionOf;
  return {
    what,
    grid,
    async measure({ learningRate }, seed) {
      const seen: { known: number; wrong: number; shown: number; success: number; again: number }[] = [];
      const reward = provenReward({ judge: judgeOf(full), submission: read, ...options });
      let paid = new Map<string, number>();
      const recipe = method({
        id: "proof",
        family: "judges",
        summary: what,
        slots: {
          feedback: async (...given) => {
            const signals = await reward(...given);
            paid = new Map(signals.map((s) => [s.about[0]!.trajectory, signalValue(s) ?? 0]));
            return signals;
          },
        },
      });
      const { curve, counters } = await trainInMemory({
        environment: settingsApp({ seed }),
        method: recipe.build({ ...plainAscent, tasks: 6, groupSize: 8, learningRate: Number(learningRate) }),
        engine: tabularEngine({ features: appFeatures, prior: appPrior }),
        seed,
        iterations,
        onIteration: ({ experience: { trajectories } }) => {
          const rows = trajectories.map((t) => ({
            known: Number((paid.get(t.id) ?? 0) > 0.5 && succeeded(t)),
            wrong: Number((paid.get(t.id) ?? 0) > 0.5 !== succeeded(t)),
            shown: read(t)?.shown.length ?? 0,
            success: Number(succeeded(t)),
            again: Number(reopened(t)),
          }));
          const of = (key: keyof (typeof rows)[number]): number => mean(rows.map((row) => row[key]));
          seen.push({
            known: of("known"),
            wrong: of("wrong"),
            shown: of("shown"),
            success: of("success"),
            again: of("again"),
          });
        },
      });
      const last = seen.slice(-measured);
      return {
        value: mean(last.map(({ known }) => known)),
        cost: { episodes: counters.episodes ?? 0, tokens: counters["tokens.sampled"] ?? 0 },
        curve: curve.map((m) => m.success ?? Number.NaN),
        more: {
          "paid wrongly": mean(last.map(({ wrong }) => wrong)),
          "done in truth": mean(last.map(({ success }) => success)),
          "observations that the judge reads": mean(last.map(({ shown }) => shown)),
          "opens a page again after a change": mean(last.map(({ again }) => again)),
        },
      };
    },
  };
};

/** Whether a page was opened after the last change. */
function reopened({ turns }: Trajectory): boolean {
  const actions = turns.map(({ action }) => action.content);
  const changed = actions.findLastIndex((action) => action.startsWith("toggle"));
  return changed >= 0 && actions.slice(changed).some((action) => action.startsWith("open"));
}

export default defineCheck({
  id: "smartsnap",
  level: "table",
  claim:
    "An agent that proves what it did, to a judge who reads the proof alone, does more that is known to be done than one whose judge reads everything that was shown.",
  metric: "share of attempts that are done and paid as done, last 10 of 40 iterations",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  simpler: ["baseline", "free"],
  unequalCost: "every arm plays as many episodes; a proof takes one action more, and a submission names it",
  notes:
    "In 3 of 20 seeds (in 1 with the judge of everything) the agent learns to hand in honest evidence that it did nothing: that pays 0, and whatever is not proven −1, so that it stops trying. Without a price on long lists that happens in 8. In the other seeds 0.96 are done and paid as done, against 0.89, and the judge is wrong about 3 of 100 attempts over all seeds, against 10. A reward of −1 for honest evidence of a failure had no such trap in a trial on another seed, in a smaller app. Such seeds make the differences of the arms deviate by 0.42 from seed to seed: 20 seeds cannot tell a gain below 0.23 from none.",
  baseline: arm("the judge reads everything that was shown", { price: 0 }, true),
  method: arm("the judge reads the evidence, and a long list costs", {}),
  others: {
    free: arm("the judge reads the evidence, and a long list costs nothing", { price: 0 }),
  },
});
