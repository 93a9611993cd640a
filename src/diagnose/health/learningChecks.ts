/** Checks of what is learnt: before and after, held-out tasks, drift and gradients. */
import {
  intervalOfDifference,
  leastSquares,
  meanInterval,
  pairedInterval,
} from "../../common/statistics/statistics.ts";
import { counted } from "../../common/text/counted.ts";
import type { Interval } from "../../core/interval.ts";
import { at, fewest, type HealthCheck, ofCurve, successOf, watchedCollapse } from "./check.ts";
import { type Curve, digits, endsOf, percent } from "./curves.ts";
import type { RunMeasurements } from "./measurements.ts";
import { deadGroups, entropy, nearlyAll, rewarded } from "./playChecks.ts";

/** Iterations after which a run should have learnt something. */
const longEnough = 10;

/** A gain that matters, if it is none of chance. */
const worthwhile = 0.05;

export const learnt: HealthCheck = {
  check: "learnt",
  title: "held-out success before and after",
  find: (run) => {
    const rates = endsOf(run.curves.learningRate, 1);
    if (rates?.largest === 0) {
      return [
        {
          problem: `The learning rate was 0 throughout (${counted(rates.measured, "iteration")}): no weight changed, and nothing was learnt.`,
          fix: "Set a learningRate above 0, or leave it out for the default.",
          metric: "learningRate",
          ...at(rates),
        },
      ];
    }
    const pairs = beforeAndAfter(run);
    if (pairs.length === 0) return undefined;
    const [before, now] = pairs[0]!;
    const iterations = now.iteration - before.iteration;
    const all = pairs.map(([a, b]) => ({ a, b, difference: differenceOf(a, b) }));
    if (all.some(({ difference }) => difference.low > 0)) return [];
    // too little was left to learn, or too little time to learn it in: neither is a success of the run
    if (before.success.mean >= nearlyAll || iterations < longEnough) return undefined;
    const best = all.reduce((x, y) => (y.difference.mean > x.difference.mean ? y : x));
    const { a, b, difference } = best.difference.mean >= worthwhile ? best : all[0]!;
    const points = (x: number): string => `${x > 0 ? "+" : ""}${digits(100 * x)}`;
    const went = `uccess on "${b.split}" went from ${percent(a.success.mean)} to ${percent(b.success.mean)} (${points(difference.low)} to ${points(difference.high)} points)`;
    const few = difference.mean >= worthwhile;
    return [
      {
        problem: few
          ? `S${went} in ${iterations} iterations: ${b.trainedShare ? "too few tasks" : "too few held-out tasks"} to tell (${difference.n}).`
          : `Nothing that can be told from chance was learnt in ${iterations} iterations: s${went}.`,
        fix: few ? `Evaluate on more: give "${b.split}" more tasks.` : causesOf(run, b.trainedShare ?? 0),
        next: `whetstone show ${run.run} --metric entropy --metric reward`,
        metric: "success",
        from: before.iteration,
        until: now.iteration,
      },
    ];
  },
};

type Evaluated = RunMeasurements["evaluations"][number];

/** After less before: task by task where the success of each is known. */
function differenceOf(before: Evaluated, after: Evaluated): Interval {
  const [a = "", b = ""] = [before.outcomes, after.outcomes];
  const both = [...a].flatMap((x, i) => (x === "-" || b[i] === "-" ? [] : [i]));
  if (a.length !== b.length || both.length < 2) return intervalOfDifference(before.success, after.success);
  const of = (outcomes: string): number[] => both.map((i) => Number(outcomes[i]));
  return pairedInterval(of(b), of(a));
}

/** The first and the last evaluation of each split and mode: of held-out splits, else of the validation split, else of "train". */
function beforeAndAfter({ evaluations }: RunMeasurements) {
  const kinds = Map.groupBy(evaluations, (e) => `${e.split} ${e.mode}`);
  const order = (split: string): number => (split === "train" ? 2 : split === "validation" ? 1 : 0);
  const pairs = [...kinds.values()]
    .map((all) => all.toSorted((a, b) => a.iteration - b.iteration))
    .filter((all) => all.length > 1 && all.at(-1)!.iteration > all[0]!.iteration)
    .map((all) => [all[0]!, all.at(-1)!] as const)
    .filter(([a, b]) => a.success.n > 0 && b.success.n > 0);
  const first = Math.min(...pairs.map(([a]) => order(a.split)));
  return pairs.filter(([a]) => order(a.split) === first);
}

/** Late less early values of a curve, where there are enough of both. */
function changeOf(curve: Curve | undefined): Interval | undefined {
  const values = curve?.value.filter(Number.isFinite) ?? [];
  if (values.length < 2 * fewest) return undefined;
  const part = Math.max(fewest, Math.ceil(values.length / 10));
  return intervalOfDifference(meanInterval(values.slice(0, part)), meanInterval(values.slice(-part)));
}

/** Correlation of two curves over the iterations of both; NaN where one of them does not vary. */
function correlationOf(a: Curve | undefined, b: Curve | undefined): number {
  const other = new Map(b?.iteration.map((at, i) => [at, b.value[i]!]));
  const pairs = (a?.iteration ?? [])
    .map((at, i) => [a!.value[i]!, other.get(at) ?? Number.NaN] as const)
    .filter(([x, y]) => Number.isFinite(x + y));
  const { xx, xy, yy } = leastSquares(
    pairs.map(([x]) => x),
    pairs.map(([, y]) => y),
  );
  return xy / Math.sqrt(xx * yy);
}

/** A fall of success that matters, if it is none of chance. */
const harmful = 0.05;

/** Whether it is none of chance although as many as six are looked at: three splits, sampled and greedy. */
const isFall = ({ mean, high }: Interval): boolean => mean <= -harmful && mean + 1.5 * (high - mean) < 0;

export const opposed: HealthCheck = {
  check: "opposed",
  title: "whether reward and success move together",
  find: (run) => {
    const rise = changeOf(run.curves.reward);
    const reward = endsOf(run.curves.reward, 1);
    if (!rise || !reward) return undefined;
    const trained = changeOf(run.curves.success);
    const heldOut = beforeAndAfter(run).map(([a, b]) => ({ a, b, change: differenceOf(a, b) }));
    if (!trained && heldOut.length === 0) return undefined;
    // where all is over within few iterations, means of the early ones say little, and these say it
    const isOpposite = correlationOf(run.curves.reward, run.curves.success) <= -0.5;
    if (reward.late <= reward.early || !(rise.low > 0 || isOpposite)) return [];
    const rose = `The reward in training rose from ${digits(reward.early)} to ${digits(reward.late)}`;
    const where = {
      next: `whetstone validate ${run.env}`,
      metric: "reward",
      episodes: "all" as const,
      ...at(reward),
    };
    const cause =
      "the sign of the rewards, what act() calls a success, and whether a part of the reward can be earned without succeeding.";
    // who becomes better at one kind of task and worse at another does not learn to fail
    if (heldOut.some(({ change }) => change.low > 0)) return [];
    const worse = heldOut.find(({ change }) => isFall(change));
    if (worse) {
      const fell = `success on "${worse.b.split}" fell from ${percent(worse.a.success.mean)} to ${percent(worse.b.success.mean)}`;
      const problem = `${rose} while ${fell}: the policy learns to fail.`;
      return [{ severity: "error", problem, fix: `Check ${cause}`, ...where }];
    }
    // held-out tasks may stand still since the best weights were put back
    if (!trained || trained.mean > -harmful || !(isOpposite || isFall(trained))) return [];
    const { early, late } = successOf(run)!;
    const problem = `${rose} while success in training fell from ${percent(early)} to ${percent(late)}.`;
    const fix = `Unless tasks became harder, check ${cause}`;
    return [{ problem, fix, ...where }];
  },
};

export const falling = ofCurve("success", "success in training", "success", fewest, ({ early, late }, run) =>
  // where the reward rose meanwhile, smaller steps are no cure: that is another check's
  late >= early - 0.15 || opposed.find(run)?.length
    ? undefined
    : {
        problem: `Success in training fell from ${percent(early)} to ${percent(late)}.`,
        fix: "Unless tasks became harder, steps are too large: lower the learning rate.",
        episodes: "all",
      },
);

/** What else was seen that explains why nothing was learnt. */
function causesOf(run: RunMeasurements, trainedShare: number): string {
  const others =
    run.findings.some(({ check }) => check === "rewards") ||
    [rewarded, opposed, deadGroups, entropy, preferred].some(({ find }) => (find(run)?.length ?? 0) > 0);
  const success = successOf(run, fewest);
  if (others) return "The other findings say why.";
  if (trainedShare === 0 && success && success.late > success.early + 0.1)
    return "Success in training rose: the policy learns the tasks by heart. Train on more different tasks.";
  return "Train longer, or with a larger learning rate; compare a second seed.";
}

export const headroom: HealthCheck = {
  check: "headroom",
  title: "whether there was anything to learn",
  find: ({ evaluations, env }) => {
    const before = evaluations.filter((e) => e.when === "before" && e.success.n > 0);
    if (before.length === 0) return undefined;
    const solved = before.every((e) => e.success.mean >= 0.99);
    if (!solved) return [];
    return [
      {
        problem: `The policy succeeded in ${percent(before[0]!.success.mean)} of the tasks before any training, so that rewards tell nothing apart.`,
        fix: "Check that wrong actions fail, or train on harder tasks.",
        next: `whetstone validate ${env}`,
      },
    ];
  },
};

/** Growth of the mean gap between sampling and training that rounding alone does not explain. */
const grown = 10;

export const gap: HealthCheck = {
  check: "gap",
  title: "sampling against training",
  find: ({ curves }) => {
    const largest = endsOf(curves.logpGap, 1);
    if (!largest) return undefined;
    if (largest.most > 1e-3) {
      return [
        {
          problem: `Sampling and training disagree by up to ${digits(largest.most)} nats a token: ratios are off.`,
          fix: "The two should run the same weights; this is a fault of the engine or the server.",
          ...{ metric: "logpGap", ...at(largest) },
        },
      ];
    }
    const mean = endsOf(curves["logpGap.mean"], fewest);
    if (!mean || mean.late <= Math.max(grown * mean.early, 1e-5)) return [];
    return [
      {
        problem: `The mean gap between sampling and training grew from ${digits(mean.early)} to ${digits(mean.late)} nats a token.`,
        fix: "Weights of growing size round more coarsely: lower the learning rate, or decay the weights.",
        ...{ metric: "logpGap.mean", ...at(mean) },
      },
    ];
  },
};

export const drift: HealthCheck = {
  check: "drift",
  title: "distance from the reference",
  find: ({ curves }) => {
    const names = Object.keys(curves).filter((name) => /\.kl$|klToReference/.test(name));
    const seen = names.flatMap((metric) => {
      const ends = endsOf(curves[metric], fewest);
      return ends ? [{ metric, ends }] : [];
    });
    if (seen.length === 0) return undefined;
    return seen
      .filter(({ ends }) => ends.late > 0.5)
      .map(({ metric, ends }) => ({
        problem: `The policy is ${digits(ends.late)} nats a token away from where it is compared with.`,
        fix: "Lower the learning rate, or strengthen the pull.",
        metric,
        ...at(ends),
      }));
  },
};

export const preferred = ofCurve(
  "preferred",
  "likelihood of what is preferred",
  "pairwise.chosen",
  fewest,
  // against the reference that the run began from, it begins at 0
  ({ late }, { run }) =>
    late >= -0.5
      ? undefined
      : {
          problem: `Preferred replies became less likely by ${digits(-late)} nats a token: their rivals fall faster, and what the policy says instead may be neither.`,
          fix: "Imitate what is preferred as well (with dpo, set or raise imitation) or first (--method sft; from a store, with --examples pair), or lower the learning rate.",
          next: `whetstone show ${run} --metric pairwise.chosen --metric pairwise.margin`,
        },
);

export const exploited: HealthCheck = {
  check: "watch",
  title: "what is paid, against audits",
  find: (measured) => {
    const { curves, run } = measured;
    const raised = curves["watch.alarm"];
    const audits = endsOf(curves["watch.audit"], 1);
    const paid = endsOf(curves["watch.paid"], 1);
    if (!raised || !audits || !paid) return undefined;
    const first = raised.value.findIndex((value) => value > 0);
    // a collapse is another check's
    if (first < 0 || watchedCollapse(measured)) return [];
    return [
      {
        severity: "error",
        problem: `The watch raised an alarm in iteration ${raised.iteration[first]! + 1}: what is paid went from ${digits(paid.early)} to ${digits(paid.late)}, audits from ${digits(audits.early)} to ${digits(audits.late)}.`,
        fix: "The policy exploits what pays it: fit the reward model to replies like the latest ones, pay by another one, or strengthen the pull towards the beginning.",
        next: `whetstone show ${run} --metric watch.paid --metric watch.audit`,
        metric: "watch.audit",
        ...at(audits),
      },
    ];
  },
};

export const stale = ofCurve(
  "stale",
  "age of what is learnt from",
  "importance.truncated",
  fewest,
  ({ late }) =>
    late <= 0.05
      ? undefined
      : {
          problem: `${percent(late)} of the tokens were at the cap of the importance weights: they are too old for the policy of now.`,
          fix: "Lower --staleness or the learning rate.",
        },
);

export const gradient: HealthCheck = {
  check: "gradient",
  title: "size of the gradient",
  find: ({ curves }) => {
    const ends = endsOf(curves.gradientNorm, fewest);
    if (!ends) return undefined;
    const last = curves.gradientNorm!.value.at(-1)!;
    if (!Number.isFinite(last)) {
      return [
        {
          severity: "error",
          problem: "The gradient's norm is not a number any more.",
          fix: "Lower the learning rate, clip gradients, and go on from an earlier checkpoint.",
          metric: "gradientNorm",
          ...at(ends),
        },
      ];
    }
    if (ends.most <= 100 * ends.median || ends.median <= 0) return [];
    return [
      {
        problem: `The gradient's norm jumped to ${digits(ends.most)}, ${digits(ends.most / ends.median)} times its median.`,
        fix: "Clip it, or lower the learning rate.",
        metric: "gradientNorm",
        ...at(ends),
      },
    ];
  },
};
