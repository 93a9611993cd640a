import { sigmoid } from "../../../common/statistics/logistic.ts";
import { mean } from "../../../common/statistics/statistics.ts";
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import { replyProbabilities } from "../../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../../engine/tabular/engine.ts";
import type { Recipe } from "../../../method/method.ts";
import { method } from "../../../method/method.ts";
import { defineCheck } from "../../../train/check.ts";
import type { TrainedInMemory } from "../../../train/trainInMemory.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { rlvfC3po, scopedPreferences } from "./method.ts";
import { scopeOf, signatures, type WishScope, wishes } from "./wishes.ts";

const environment = (seed: number) => wishes({ seed, mails: 96 });
const [smile] = signatures;

/** Kind and reader of a mail, `question to client`, from the words of its prompt. */
const mailOf = (words: readonly string[]): readonly [kind: string, reader: string] => {
  const to = words.indexOf("to");
  return [words[to - 1] ?? "", words[to + 1] ?? ""];
};

/** Initial log-odds of signing a mail with a smile: about 0.7 of mails are. */
const habit = (seed: number, mail: readonly [string, string]): number =>
  Math.log(7 / 3) +
  0.5 *
    randomStream(seed)
      .split("habit", ...mail)
      .normal();

/** With the wish in its context, it nearly always leaves the smile out. */
const reading: Reading = {
  isRead: (message) => message.startsWith("please"),
  shift: (_told, _reply, word) => (word === smile ? -4 : 0),
};

/** Exact compliance with the wish in scope, and exact change of the policy elsewhere. */
async function kept({ policy }: TrainedInMemory, seed: number) {
  const tasks = environment(seed).tasks("test");
  const smiles = async (task: Task): Promise<number> => (await replyProbabilities(policy, task, [smile]))[0]!;
  const of = async (scope: WishScope, measured: (task: Task) => Promise<number>): Promise<number> =>
    mean(await Promise.all(tasks.filter((task) => scopeOf(task) === scope).map(measured)));
  const moved = async (task: Task): Promise<number> =>
    Math.abs((await smiles(task)) - sigmoid(habit(seed, mailOf(task.prompt[0]!.content.split(" ")))));
  const adherence = 1 - (await of("in", smiles));
  const [near, out] = [await of("near", moved), await of("out", moved)];
  return { overall: (adherence + 1 - (near + out) / 2) / 2, adherence, near, out };
}

const arm = (recipe: Recipe, what: string) =>
  trainingArm({
    recipe,
    what,
    environment,
    // kind, reader, and the two together
    engine: (seed) =>
      tabularEngine({
        context: "message",
        prior: (context, word) =>
          word === smile ? habit(seed, mailOf(context)) : word === signatures[1] ? 0 : -1e9,
        reading,
        features: (context) => {
          const [kind, reader] = mailOf(context);
          return ["mail", kind, `to ${reader}`, `${kind} to ${reader}`];
        },
      }),
    settings: { ...plainAscent, tasks: 96, epochs: 40 },
    grid: [0.03, 0.1, 0.3, 1, 3, 10].map((learningRate) => ({ learningRate })),
    // one sentence of feedback: everything is sampled once, before training
    iterations: 1,
    metric: async (done, seed) => (await kept(done, seed)).overall,
    more: kept,
  });

const anchored = (anchors: Parameters<typeof scopedPreferences>[0]): Recipe =>
  method({
    id: "variant",
    family: "user-feedback",
    summary: "a variant of rlvf-c3po",
    needs: ["topk", "at"],
    frozen: { reference: {} },
    slots: scopedPreferences(anchors),
  });

export default defineCheck({
  id: "rlvf-c3po",
  level: "table",
  simpler: ["out only", "likelihood"],
  claim:
    "Held to its own old answers where the feedback does not apply, a policy learns it without changing elsewhere.",
  metric: "mean of adherence where the wish holds and of 1 − change of the rate elsewhere, exact",
  direction: "higher",
  smallestEffect: 0.05,
  range: [0, 1],
  tuningSeeds: 2,
  notes:
    "How far an arm goes is its own choice, by its rate and on the same measure, so that preferences alone are as good as with early stopping. Habits differ from mail to mail, and an anchor of likelihood is one sample of them: `likelihood` has anchors, but no divergence. On a table of features what is learnt of a mail reaches those of its kind and those to its reader by construction.",
  baseline: arm(anchored({ near: 0, out: 0 }), "preferences alone"),
  method: arm(rlvfC3po, "preferences, anchors of likelihood and divergence"),
  others: {
    "out only": arm(anchored({ near: 0 }), "anchors on what is far from the wish alone"),
    likelihood: arm(anchored({ divergence: 0 }), "anchors of likelihood alone"),
  },
});
