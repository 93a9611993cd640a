import { sigmoid } from "../../../common/statistics/logistic.ts";

import { type Attempt, scorer } from "../../../core/evaluator.ts";
import { type Random, randomStream } from "../../../core/random.ts";
import { signalValue } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import { expectedValue, meanOver } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { areaUnderCurve } from "../../../evaluator/agreement.ts";
import { calibrationCurve, expectedCalibrationError } from "../../../evaluator/calibration.ts";
import { outcome } from "../../../feedback/outcome.ts";
import { method } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { type Judged, judged } from "../../../worlds/judged.ts";
import { verified } from "./method.ts";
import { topLabel } from "./topLabel.ts";
import { verdictRewards } from "./verdictRewards.ts";

const world = (seed: number): Judged =>
  judged({ questions: 16, answers: 64, right: 0.25, testError: 0.15, seed });
const groupSize = 8;

/** The world's verifier, after this change of its logit. */
const verifierOf = (environment: Judged, change: (logit: number) => number = (z) => z) =>
  scorer<Attempt>("verifier", async ({ task, trajectory }) => {
    const answer = environment.answerOf(task, trajectory.turns.at(-1)?.action.content ?? "");
    return answer && sigmoid(change(answer.logit));
  });

/** The scores of each group, replaced together. */
const regrouped =
  (feedback: Feedback, change: (scores: readonly number[], random: Random) => readonly number[]): Feedback =>
  async (ctx, experience, notes) => {
    const signals = await feedback(ctx, experience, notes);
    const groupOf = new Map(experience.units.flatMap((u) => u.members.map((id) => [id, u.group])));
    const groups = Map.groupBy(signals, (s) => groupOf.get(s.about[0]!.trajectory));
    return [...groups].flatMap(([group, own]) => {
      const scores = own.map((s) => signalValue(s) ?? 0);
      const changed = change(scores, ctx.random.split("regrouped", group ?? ""));
      return own.flatMap((s, i) => (s.kind === "reward" ? [{ ...s, value: changed[i]! }] : []));
    });
  };

const firstBest = (scores: readonly number[]): number => scores.indexOf(Math.max(...scores));
/** The best keeps its score; the others exchange theirs at random. */
function scrambled(scores: readonly number[], random: Random): readonly number[] {
  const best = firstBest(scores);
  const rest = scores.filter((_, i) => i !== best);
  for (let i = rest.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [rest[i], rest[j]] = [rest[j]!, rest[i]!];
  }
  return scores.map((s, i) => (i === best ? s : rest.shift()!));
}
const bestAlone = (scores: readonly number[]): readonly number[] =>
  scores.map((_, i) => Number(i === firstBest(scores)));

/** What the verifier is worth by itself: best of 8, discrimination and calibration, on 20 groups drawn for each question. */
function described(
  environment: Judged,
  scoresOf: (logits: readonly number[], random: Random) => readonly number[],
  seed: number,
) {
  const groups = environment.tasks("train").flatMap((task) =>
    Array.from({ length: 20 }, (_, g) => {
      const random = randomStream(seed).split("described", task.id, g);
      const drawn = Array.from(
        { length: groupSize },
        () => environment.answerOf(task, environment.words[random.below(environment.words.length)]!)!,
      );
      const scores = scoresOf(
        drawn.map(({ logit }) => logit),
        random,
      );
      return drawn.map(({ right }, i) => ({ score: scores[i]!, label: right }));
    }),
  );
  const all = groups.flat();
  const [scores, labels] = [all.map((a) => a.score), all.map((a) => a.label)];
  return {
    "best of 8": topLabel(groups),
    "area under the curve": areaUnderCurve(scores, labels),
    "calibration error": expectedCalibrationError(calibrationCurve(scores, labels.map(Number))),
  };
}

const grid = [3, 10, 30, 100].map((learningRate) => ({ learningRate }));

/** @param scoresOf what becomes of a group's logits, for the verifier's own figures; undefined where none is asked. */
function arm(
  what: string,
  feedbackOf: (environment: Judged) => Feedback,
  scoresOf?: (logits: readonly number[], random: Random) => readonly number[],
): Arm {
  // one world per run, since the verifier must be that of the tasks
  const armIn = (environment: Judged): Arm =>
    trainingArm({
      recipe: method({
        id: "rewarded",
        family: "judges",
        summary: what,
        slots: (s) => ({ ...verified(environment.rewardModel, s, 0.1), feedback: feedbackOf(environment) }),
      }),
      environment: () => environment,
      engine: () =>
        tabularEngine({ context: "message", prior: (_, word) => (/^a\d+$/.test(word) ? 0 : -1e9) }),
      iterations: 150,
      settings: { ...plainAscent, tasks: 16, groupSize, clipLow: 0.1, clipHigh: 0.13 },
      grid,
      metric: ({ policy }) =>
        meanOver(environment.tasks("train"), (task) =>
          expectedValue(policy, task, environment.words, (word) =>
            Number(environment.answerOf(task, word)!.right),
          ),
        ),
      ...(scoresOf && { more: (_done, seed) => described(environment, scoresOf, seed) }),
    });
  return { what, grid, measure: (choice, seed) => armIn(world(seed)).measure(choice, seed) };
}

const scoreOnly = (change?: (logit: number) => number) => (environment: Judged) =>
  verdictRewards({ verifier: verifierOf(environment, change), reward: "score" });
const each = (change: (z: number) => number) => (logits: readonly number[]) => logits.map(change);

export default defineCheck({
  id: "swe-rm",
  level: "shared",
  claim:
    "A verifier's score added to the outcome of tests that sometimes err teaches more true success than the tests alone.",
  metric: "true success after 19,200 attempts, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  baseline: arm("tests alone", () => outcome()),
  method: arm("tests and verifier", (w) => verdictRewards({ verifier: verifierOf(w) })),
  simpler: ["baseline", "score"],
  others: {
    score: arm("the verifier's score alone", scoreOnly(), each(sigmoid)),
    sharpened: arm(
      "the same ranking, worse calibrated: σ(6z) alone",
      scoreOnly((z) => 6 * z),
      each((z) => sigmoid(6 * z)),
    ),
    scrambled: arm(
      "the same best of each group, the other scores exchanged",
      (w) => regrouped(scoreOnly()(w), scrambled),
      (logits, random) => scrambled(logits.map(sigmoid), random),
    ),
    best: arm(
      "1 for the group's best score, else 0",
      (w) => regrouped(scoreOnly()(w), bestAlone),
      (logits) => bestAlone(logits.map(sigmoid)),
    ),
  },
});
