/** Checks of runs that learn from labels and tasks of their own making: whether they are sure of what is wrong, and whether they still look for anything new. */
import { intervalOfDifference } from "../../common/statistics/statistics.ts";
import { at, fewest, type HealthCheck, ofCurve, successOf, watchedCollapse } from "./check.ts";
import { digits, endsOf, percent } from "./curves.ts";
import { nearlyAll } from "./playChecks.ts";

/** What a fix of any of them begins with. */
const goBack =
  "Go back to the weights of the best round (--watch keeps them, and so does a validation split)";

export const collapsed: HealthCheck = {
  check: "collapse",
  title: "whether answers became alike without becoming right",
  find: (run) => {
    const answers = endsOf(run.curves["diversity.answers"], fewest);
    const success = successOf(run, fewest);
    if (!answers || !success) return undefined;
    const watched = watchedCollapse(run);
    const alike = answers.early >= 0.1 && answers.late <= answers.early / 3;
    const wrong = success.late < nearlyAll && success.late < success.early + 0.1;
    if (!watched && !(alike && wrong)) return [];
    const noise = endsOf(run.curves["watch.noise"], 1);
    const labels = noise ? `, and ${percent(noise.late)} of the rewards are wrong by the audits` : "";
    return [
      {
        severity: watched ? "error" : "warning",
        problem: `Attempts at a task have become alike (share of different answers ${digits(answers.early)} at first, ${digits(answers.late)} of late), while success is ${percent(success.late)} (${percent(success.early)} at first)${labels}: the policy is sure of what is wrong.`,
        fix: `${goBack}. Pay only where labels are sure, mix in tasks with true labels, or strengthen the pull towards the beginning.`,
        next: `whetstone show ${run.run} --metric diversity.answers --metric success`,
        metric: "diversity.answers",
        episodes: "all",
        ...at(answers),
      },
    ];
  },
};

export const proposals = ofCurve(
  "proposals",
  "whether proposed tasks differ",
  "diversity.proposals",
  fewest,
  ({ early, late }) =>
    late > early / 2
      ? undefined
      : {
          problem: `Proposed tasks have become alike: the share of different words of two fell from ${percent(early)} to ${percent(late)}.`,
          fix: "The proposer repeats what paid: tell it more of the environment, limit successes of one task, or pay it for what is new.",
        },
);

export const noisy = ofCurve(
  "labels",
  "whether rewards of its own making are right",
  "watch.noise",
  fewest,
  ({ early, late }) =>
    late <= 0.2 || late <= early + 0.1
      ? undefined
      : {
          problem: `What is paid is wrong by ${percent(late)} of the audits, ${percent(early)} at first.`,
          fix: "The labels get worse as the policy learns from them: keep only sure ones, or label by something that does not learn.",
        },
);

/** A fall of validation that matters, if it is none of chance. */
const worthwhile = 0.1;

export const drifted: HealthCheck = {
  check: "validation",
  title: "validation against its best",
  find: ({ evaluations, run }) => {
    const all = evaluations
      .filter(({ when, success }) => when === "during" && success.n > 0)
      .toSorted((a, b) => a.iteration - b.iteration);
    const last = all.at(-1);
    if (!last || all.length < 2) return undefined;
    const best = all.reduce((x, y) => (y.success.mean > x.success.mean ? y : x));
    const fall = intervalOfDifference(last.success, best.success);
    if (!(fall.low > 0) || fall.mean < worthwhile) return [];
    return [
      {
        problem: `Success on "${last.split}" was ${percent(best.success.mean)} after ${best.iteration} iterations and is ${percent(last.success.mean)} after ${last.iteration}: what is learnt now does not hold there.`,
        fix: "The run's weights are those of the best validation. End it earlier, or look at what it is paid for (--watch environment).",
        next: `whetstone show ${run} --metric reward --metric success`,
        metric: "success",
        from: best.iteration,
        until: last.iteration,
      },
    ];
  },
};
