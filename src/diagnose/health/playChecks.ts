/** Checks of how the policy plays: its episodes, rewards and entropy. */
import { at, fewest, type HealthCheck, ofCurve, successOf } from "./check.ts";
import { type Curve, digits, endsOf, percent, ratioOf } from "./curves.ts";

export const environment: HealthCheck = {
  check: "environment",
  title: "the environment's tasks and episodes",
  find: ({ findings }) => findings.map(({ check: _, ...finding }) => finding),
};

export const failures: HealthCheck = {
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

export const actions = ofCurve("actions", "whether the policy acts", "turns", 1, ({ late }, { run }) =>
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

export const cutOff: HealthCheck = {
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

/** Success that counts as having nothing left to learn. */
export const nearlyAll = 0.9;

export const rewarded: HealthCheck = {
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

export const constantReward: HealthCheck = {
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

export const deadGroups: HealthCheck = {
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

export const entropy = ofCurve(
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
