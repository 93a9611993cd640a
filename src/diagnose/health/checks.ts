/** The checks of a run's health. Thresholds are rules of thumb: they point at what to look at and decide nothing. */
import { intervalOfDifference, pairedInterval } from "../../common/statistics/statistics.ts";
import type { Interval } from "../../core/interval.ts";
import { type Curve, digits, type Ends, endsOf, percent, ratioOf } from "./curves.ts";
import type { HealthFinding, RunMeasurements } from "./health.ts";

type Found = Omit<HealthFinding, "check" | "severity"> & Partial<Pick<HealthFinding, "severity">>;

export interface HealthCheck {
  readonly check: string;
  /** What it looks at, in a few words. */
  readonly title: string;
  /** @returns undefined where the run has nothing that it looks at; else what it found, which may be nothing. */
  find(run: RunMeasurements): readonly Found[] | undefined;
}

/** Iterations below which a trend is not told from chance. */
const fewest = 8;

const at = ({ from, until }: Pick<Ends, "from" | "until">) => ({ from, until });

/** A check of one curve. */
const ofCurve = (
  check: string,
  title: string,
  metric: string,
  least: number,
  find: (ends: Ends, run: RunMeasurements) => Omit<Found, "metric" | "from" | "until"> | undefined,
): HealthCheck => ({
  check,
  title,
  find: (run) => {
    const ends = endsOf(run.curves[metric], least);
    if (!ends) return undefined;
    const found = find(ends, run);
    return found ? [{ ...found, metric, ...at(ends) }] : [];
  },
});

const successOf = ({ curves }: RunMeasurements, least = 1): Ends | undefined => endsOf(curves.success, least);

const environment: HealthCheck = {
  check: "environment",
  title: "the environment's tasks and episodes",
  find: ({ findings }) => findings.map(({ check: _, ...finding }) => finding),
};

const failures: HealthCheck = {
  check: "failures",
  title: "episodes that failed",
  find: ({ curves, run }) => {
    const share = ratioOf(
      curves["total.episodes.failed"] ?? zeroLike(curves["total.episodes"]),
      curves["total.episodes"],
    );
    const ends = endsOf(share, 1);
    if (!ends) return undefined;
    const now = share!.value.at(-1)!;
    if (!(now > 0)) return [];
    return [
      {
        severity: now > 0.5 ? "error" : "warning",
        problem: `${percent(now)} of all episodes failed through no fault of the policy and were left out of every number.`,
        fix: "The environment threw, took too long, or returned something that is no step; a model or tool behind it may be away.",
        next: `whetstone show ${run} --failed`,
        metric: "failed",
        episodes: "failed",
        ...at(ends),
      },
    ];
  },
};

const zeroLike = (curve: Curve | undefined): Curve | undefined =>
  curve && { iteration: curve.iteration, value: curve.value.map(() => 0) };

const actions = ofCurve("actions", "whether the policy acts", "turns", 1, ({ late }, { run }) =>
  late >= 0.5
    ? undefined
    : {
        severity: "error",
        problem: `Episodes have ${digits(late)} turns in the mean: the policy hardly acts.`,
        fix: "Prompts fill the context before the first action (raise --context-tokens), or episodes end before it.",
        next: `whetstone show ${run}`,
        episodes: "all",
      },
);

const cutOff: HealthCheck = {
  check: "truncated",
  title: "episodes that were cut off",
  find: ({ curves, run }) => {
    const ends = endsOf(curves.truncated, 1);
    if (!ends) return undefined;
    if (ends.late <= 0.1 || (ends.measured < fewest && ends.late <= 0.5)) return [];
    return [
      {
        problem: `${percent(ends.late)} of the episodes were cut off at a limit.`,
        fix: "Raise the limit on turns or tokens, or reward brevity; where none ever ends, return `end` from act().",
        next: `whetstone show ${run} --failed`,
        metric: "truncated",
        episodes: "truncated",
        ...at(ends),
      },
    ];
  },
};

const falling = ofCurve("success", "success in training", "success", fewest, ({ early, late }) =>
  late >= early - 0.15
    ? undefined
    : {
        problem: `Success in training fell from ${percent(early)} to ${percent(late)}.`,
        fix: "Unless tasks became harder, steps are too large: lower the learning rate.",
        episodes: "all",
      },
);

/** Success that counts as having nothing left to learn. */
const nearlyAll = 0.9;

const rewarded: HealthCheck = {
  check: "rewarded",
  title: "whether any episode was rewarded",
  find: (run) => {
    const success = successOf(run, 3);
    const reward = endsOf(run.curves.reward, 3);
    if (!success || !reward) return undefined;
    if (success.largest > 0 || reward.largest > reward.smallest) return [];
    return [
      {
        severity: "error",
        problem: `No episode of ${success.measured} iterations was a success, and all earned a reward of ${digits(reward.late)}: the policy has never done anything that is rewarded.`,
        fix: "Let it imitate first (a `flawed` player and a warm start, or demonstrations), begin with easier tasks, reward steps on the way, or check that it can write right actions at all.",
        next: `whetstone validate ${run.env}`,
        metric: "success",
        episodes: "all",
        ...at(success),
      },
    ];
  },
};

const constantReward: HealthCheck = {
  check: "reward",
  title: "whether the reward varies",
  find: (run) => {
    const reward = endsOf(run.curves.reward, 10);
    if (!reward) return undefined;
    const success = successOf(run);
    // what was never rewarded at all is another check's
    if (reward.largest > reward.smallest || (success && (success.late === 1 || success.largest === 0)))
      return [];
    return [
      {
        problem: `The reward has been exactly ${digits(reward.late)} for ${reward.measured} iterations: nothing is being learnt from.`,
        fix: "Check that the reward can be reached, and is not a constant.",
        next: `whetstone validate ${run.env}`,
        metric: "reward",
        episodes: "all",
        ...at(reward),
      },
    ];
  },
};

const deadGroups: HealthCheck = {
  check: "groups",
  title: "whether attempts at a task differ",
  find: (run) => {
    const metric = run.curves.deadPools ? "deadPools" : "deadGroups";
    const share = endsOf(run.curves[metric], 4);
    if (!share) return undefined;
    const success = successOf(run)?.late;
    // of tasks that are solved, nothing is left to learn
    if (share.late <= 0.8 || (success !== undefined && success > nearlyAll)) return [];
    const solved = endsOf(run.curves.solvedGroups, 4)?.late;
    const unsolved = endsOf(run.curves.unsolvedGroups, 4)?.late;
    const known = solved !== undefined && unsolved !== undefined;
    const parts = known
      ? `: every attempt succeeds in ${percent(solved)} of the groups, none in ${percent(unsolved)}`
      : "";
    const easy = known ? solved > unsolved : success !== undefined && success > 0.5;
    return [
      {
        problem: `In ${percent(share.late)} of the groups all attempts earned the same reward and teach nothing${parts}.`,
        fix: easy
          ? "Most of these are solved every time: train on harder tasks."
          : "Most of these fail every time: begin with easier tasks, or with a warm start.",
        next: "whetstone methods curriculum",
        metric,
        episodes: "all",
        ...at(share),
      },
    ];
  },
};

const entropy = ofCurve(
  "entropy",
  "whether the policy still tries",
  "entropy",
  fewest,
  ({ early, late }, run) => {
    const success = successOf(run, fewest);
    if (late >= early / 4 || (success && success.late >= nearlyAll)) return undefined;
    const stuck = !success || success.late < success.early + 0.1;
    if (late >= early / 10 && !stuck) return undefined;
    const still = success ? ` while success is ${percent(success.late)}` : "";
    return {
      problem: `Entropy fell from ${digits(early)} to ${digits(late)} nats a token${still}: the policy repeats itself and has stopped trying.`,
      fix: "Lower the learning rate, add an entropy bonus, or begin from a policy that tries more.",
      next: "whetstone methods entropy",
      episodes: "all",
    };
  },
);

/** Iterations after which a run should have learnt something. */
const longEnough = 10;

/** A gain that matters, if it is none of chance. */
const worthwhile = 0.05;

const learnt: HealthCheck = {
  check: "learnt",
  title: "held-out success before and after",
  find: (run) => {
    const pairs = beforeAndAfter(run);
    if (pairs.length === 0) return undefined;
    const [before, now] = pairs[0]!;
    const iterations = now.iteration - before.iteration;
    if (before.success.mean >= nearlyAll || iterations < longEnough) return [];
    const all = pairs.map(([a, b]) => ({ a, b, difference: differenceOf(a, b) }));
    if (all.some(({ difference }) => difference.low > 0)) return [];
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

/** What else was seen that explains why nothing was learnt. */
function causesOf(run: RunMeasurements, trainedShare: number): string {
  const others = [rewarded, deadGroups, entropy].some(({ find }) => (find(run)?.length ?? 0) > 0);
  const success = successOf(run, fewest);
  if (others) return "The other findings say why.";
  if (trainedShare === 0 && success && success.late > success.early + 0.1)
    return "Success in training rose: the policy learns the tasks by heart. Train on more different tasks.";
  return "Train longer, or with a larger learning rate; compare a second seed.";
}

const headroom: HealthCheck = {
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

const gap: HealthCheck = {
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

const drift: HealthCheck = {
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

const stale = ofCurve("stale", "age of what is learnt from", "importance.truncated", fewest, ({ late }) =>
  late <= 0.05
    ? undefined
    : {
        problem: `${percent(late)} of the tokens were at the cap of the importance weights: they are too old for the policy of now.`,
        fix: "Lower --staleness or the learning rate.",
      },
);

const gradient: HealthCheck = {
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

/** In the order in which they are shown: what makes others meaningless comes first. */
export const healthChecks: readonly HealthCheck[] = [
  environment,
  failures,
  actions,
  cutOff,
  rewarded,
  headroom,
  learnt,
  falling,
  entropy,
  deadGroups,
  constantReward,
  gradient,
  gap,
  drift,
  stale,
];
