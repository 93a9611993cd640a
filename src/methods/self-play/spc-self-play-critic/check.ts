import { mean } from "../../../common/statistics/statistics.ts";
import type { Model } from "../../../core/model.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Message } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { tabularEngine } from "../../../engine/tabular/engine.ts";
import { verdictQuestion } from "../../../evaluator/verdictCritique.ts";
import { method, type SlotChoices } from "../../../method/method.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { averageOf, plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { sneaked, spcSelfPlayCritic } from "./method.ts";
import { sneakyQuestion } from "./stepGame.ts";
import { hardWords, kindWords, ruled, stepReader, stepSpeaker, steps } from "./steps.ts";

/** π(verdict | step), exact: it depends on the step alone. */
const verdictOn = async (policy: Model, seed: number, step: string, verdict: string): Promise<number> => {
  const task = steps(seed).tasks("train")[0]!;
  const asked: readonly Message[] = [
    ...task.prompt,
    { role: "assistant", content: step },
    { role: "user", content: verdictQuestion },
  ];
  return (await replyProbabilities(policy, { ...task, prompt: asked }, [verdict]))[0]!;
};
const over = async (words: readonly string[], of: (word: string) => Promise<number>): Promise<number> =>
  mean(await Promise.all(words.map(of)));

/** The sneaky generator stays as it was: errors of all kinds alike. */
const uniformly =
  (rollout: Rollout): Rollout =>
  async (ctx) => {
    const all = await rollout(ctx);
    return { ...all, units: all.units.filter(({ group }) => group !== "sneaky") };
  };

const arm = (what: string, learns: boolean, grid: Arm["grid"]): Arm => ({
  what,
  grid,
  measure: (choice, seed) =>
    trainingArm({
      recipe: method({
        id: "spc-self-play-critic",
        family: "self-play",
        summary: what,
        models: spcSelfPlayCritic.models ?? {},
        frozen: spcSelfPlayCritic.frozen ?? {},
        says: [sneakyQuestion, `${verdictQuestion} RIGHT WRONG`],
        options: { pace: spcSelfPlayCritic.options.pace },
        slots: (s, { pace }): SlotChoices => {
          const slots = sneaked({ isError: ruled(seed), maxTokens: 1 }, { pace, imitation: 0 })(s);
          return learns ? slots : { ...slots, rollout: uniformly(slots.rollout!) };
        },
      }),
      environment: steps,
      engine: () => tabularEngine({ prior: stepSpeaker, features: stepReader }),
      iterations: 20,
      settings: { ...plainAscent, epochs: 3, tasks: 20, groupSize: 1 },
      grid,
      metric: async ({ policy }) => {
        const recall = await over(hardWords, (word) => verdictOn(policy, seed, word, "WRONG"));
        const onPlain = await verdictOn(policy, seed, "plain", "RIGHT");
        return (recall + onPlain) / 2;
      },
      more: async ({ policy, curve }) => ({
        "recall, hard kinds": await over(hardWords, (word) => verdictOn(policy, seed, word, "WRONG")),
        "recall, all kinds": await over(kindWords, (word) => verdictOn(policy, seed, word, "WRONG")),
        "right steps called right": await verdictOn(policy, seed, "plain", "RIGHT"),
        "errors found, first 5 rounds": averageOf(curve.slice(0, 5), "recall"),
        "errors found, last 5 rounds": averageOf(curve.slice(-5), "recall"),
      }),
    }).measure(choice, seed),
});

const rates = [100, 200, 400, 1000];
export default defineCheck({
  id: "spc-self-play-critic",
  level: "table",
  claim:
    "A critic finds more of the errors that it used to miss after games against a generator that looks for them than after as many against errors of all kinds.",
  metric: "mean of recall on hard kinds of errors and of right verdicts on plain steps, exact",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  simpler: ["baseline"],
  notes:
    "400 games over 200 kinds of errors, 20 of them hard. At small step sizes the generator's search pays: on two other seeds hard kinds were found at 0.35 and 0.24 (step 30), and at 0.59 and 0.46 (step 100). A large step turns a table's verdict on a kind at its first error, so that coverage alone is enough, and with both tuned little is left: hard kinds 0.65 and 0.62, all kinds 0.89 both. A generator that learns three times as fast stays with a few kinds and is found out in every game. Whoever reads an error's words, and not its kind, cannot take steps that large.",
  baseline: arm(
    "errors of all kinds alike",
    false,
    rates.map((learningRate) => ({ learningRate })),
  ),
  method: arm(
    "errors of a generator that learns",
    true,
    [100, 200].flatMap((learningRate) => [0.03, 0.06].map((pace) => ({ learningRate, pace }))),
  ),
});
