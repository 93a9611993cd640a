/** How well an agent judges trajectories: as an evaluator that compares them, and as a model that scores them by likelihood. */

import { mean, meanInterval } from "../common/statistics/statistics.ts";
import { pairRows } from "../common/tokens/pack.ts";
import { present } from "../core/errors.ts";
import { type Able, type Attempt, scorer } from "../core/evaluator.ts";
import type { Model } from "../core/model.ts";
import {
  byLabel,
  byLength,
  inWords,
  labelPairs,
  lengthOf,
  lengthSlope,
  type PairLabel,
} from "../diagnose/pairLabels.ts";
import { trajectoryComparison } from "../env/toolWorld/trajectoryComparison.ts";
import { type EvaluationSuite, meanRow, playParts, type SuiteRow } from "./suite.ts";

const parts = 3;

export const planRewardBench: EvaluationSuite = {
  name: "plan-rewardbench",
  summary: "telling the better of two trajectories with tools, by family, source and length",
  measures:
    "Every pair is judged in both orders; an answer that depends on the order alone is half right. Accuracy is given by family, by where the worse trajectory comes from and by its slip, and over thirds of the pairs from short to long; the slope is accuracy per e-fold of length. Position bias is how often the first one wins beyond one half, length bias how often the longer one does. A pair without a readable answer is left out and counted as failed. For comparison: choosing the longer one, and the agent's own mean log-likelihood of the actions as a score.",
  paper: "Aligning Agents via Planning: A Benchmark for Trajectory-Level Reward Modeling",
  async run(options) {
    const environment = trajectoryComparison({ blocks: [1, 3, 6, 12], pairs: 480 });
    const tasks = options.tasks === undefined ? {} : { tasks: 2 * options.tasks };
    const part = { environment, split: "test", constrained: true };
    const { played } = await playParts([part], { ...options, ...tasks });
    const said = new Map(
      present(played[0], "plan-rewardbench", "part").map((t) => [t.task, t.turns[0]?.action.content]),
    );
    const pairs = environment.pairs("test").slice(0, options.tasks);
    // the task that shows this trajectory first
    const taskOf = new Map(
      pairs.flatMap(({ chosen, rejected }, i) => [
        [chosen, `trajectory-pairs/test/${i}/first`] as const,
        [rejected, `trajectory-pairs/test/${i}/second`] as const,
      ]),
    );
    const replies = inWords("agent", async ({ trajectory }) => said.get(taskOf.get(trajectory) ?? "") ?? "");
    const { labels, failed } = await labelPairs(pairs, replies);
    const { agent } = options;
    const scored = typeof agent !== "string" && "score" in agent ? [likelihood(agent)] : [];
    const others = await Promise.all(
      [longer, ...scored].map(async (evaluator) => ({
        name: evaluator.name,
        labels: (await labelPairs(pairs, evaluator)).labels,
      })),
    );
    return { rows: [...judgeRows(labels), ...comparisonRows(others)], failed };
  },
};

/** A baseline that prefers the longer trajectory; a judge should beat it. */
const longer = scorer<Attempt>("the longer one", async ({ trajectory }) => lengthOf(trajectory));

/** Mean log-probability of the action tokens, each turn given its own conversation. */
function likelihood(model: Model): Able<"score"> {
  return scorer<Attempt>("likelihood", async ({ trajectory: { turns } }) => {
    const rows = turns.map(({ prompt, action }) => ({
      prompt: model.codec.open(prompt),
      target: model.codec.encode(action.content),
    }));
    if (rows.some((row) => row.prompt.length + row.target.length > model.contextTokens)) return undefined;
    return mean((await model.score(pairRows(rows))).logp);
  });
}

const correct = (section: string, name: string, of: readonly PairLabel[]): SuiteRow =>
  meanRow(
    section,
    name,
    of.map((v) => v.correct),
    "share",
  );

/** The report's rows on one evaluator. */
export function judgeRows(labels: readonly PairLabel[]): readonly SuiteRow[] {
  const labelled =
    (label: string) =>
    (section: string): SuiteRow[] =>
      [...byLabel(labels, label)].map(([name, some]) => correct(section, name, some));
  const families = [...byLabel(labels, "family").values()];
  const macro = families.map((some) => mean(some.map((v) => v.correct)));
  const lengths = byLength(labels, parts);
  const biases = (of: readonly number[]) => of.map((x) => x - 0.5);
  const slope = lengthSlope(labels);
  return [
    correct("Accuracy", "all pairs", labels),
    // the interval of a mean over families is not one over pairs
    {
      section: "Accuracy",
      name: "mean over families",
      unit: "share",
      value: pointOf(mean(macro), macro.length),
    },
    ...labelled("family")("Accuracy, by family"),
    ...labelled("source")("Accuracy, by source"),
    ...labelled("kind")("Accuracy, by slip"),
    ...lengths.map((some, i) => correct("Accuracy, by length", `third ${i + 1} of ${parts}`, some)),
    { section: "Accuracy, by length", name: "slope per e-fold", unit: "number", value: slope },
    meanRow("Bias", "position: first beyond ½", biases(labels.map((v) => v.firstChosen))),
    meanRow("Bias", "length: longer beyond ½", biases(labels.flatMap((v) => v.longerChosen ?? []))),
    meanRow(
      "Bias",
      "same winner in both orders",
      labels.map((v) => Number(v.consistent)),
      "share",
    ),
  ];
}

/** A number without an interval. */
const pointOf = (x: number, n: number) => ({ ...meanInterval([x]), n });

const comparisonRows = (
  others: readonly { readonly name: string; readonly labels: readonly PairLabel[] }[],
): readonly SuiteRow[] => others.map(({ name, labels }) => correct("For comparison", name, labels));
