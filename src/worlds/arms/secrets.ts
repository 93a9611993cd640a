/** The tabular policy of the world of secrets, and what it can do without help. */

import type { Model } from "../../core/model.ts";
import { randomStream } from "../../core/random.ts";
import type { Data } from "../../core/slots.ts";
import { type UniformState, uniform } from "../../data/uniform.ts";
import { posed } from "../../data/variants.ts";
import { meanOver, replyProbabilities } from "../../diagnose/replyProbabilities.ts";
import { type Reading, tabularEngine } from "../../engine/tabular/engine.ts";
import type { Environment } from "../../env/environment.ts";
import { method } from "../../method/method.ts";
import { formats, type SecretsOptions, secretOf, secrets } from "../secrets.ts";

/** Initial probability of each secret of training and of the held-out ones, at the largest length, by its number. */
export function firstChances(options: SecretsOptions = {}): readonly number[] {
  const { secrets: count = 20, success: [low, high] = [0.02, 0.3], seed = 1 } = options;
  return Array.from({ length: 2 * count }, (_, i) => {
    const share = randomStream(seed).split("chance", i).next();
    return low * (high / low) ** share;
  });
}

/** Whoever reads a hint or choices says almost surely what they allow: the hint's words, an option, the given words. */
const reading: Reading = {
  isRead: (message) => /^(hint|choose|fill) /.test(message),
  shift: (told, reply, word) => {
    const [kind, ...shown] = told.at(-1)!.split(" ");
    const answers = kind === "choose" ? shown.join(" ").split(" or ") : [shown.join(" ")];
    const fits = answers
      .map((answer) => answer.split(" "))
      .filter((answer) => reply.every((said, place) => answer[place] === said || answer[place] === "any"));
    return fits.some((answer) => answer[reply.length] === word) ? 12 : 0;
  },
};

/**
 * The policy of {@link secrets}: a softmax whose logits are those of the secret and position plus those of the position, which
 * all secrets share. So what one secret teaches disturbs the others, and steps can be too large. A secret's first chance is
 * spread evenly over its words. A message "hint w3 w1" makes it say these words first.
 */
export function secretsEngine(options: SecretsOptions = {}) {
  const { vocabulary = 6, lengths = [4] } = options;
  const chances = firstChances(options);
  const right = new Map<string, readonly string[]>();
  const world = secrets(options);
  for (const task of ["train", "test"].flatMap((split) => world.tasks(split))) {
    const key = `q${task.metadata.number}`;
    if (secretOf(task).length > (right.get(key)?.length ?? 0)) right.set(key, secretOf(task));
  }
  const most = Math.max(...lengths);
  return tabularEngine({
    context: "message",
    reading,
    features: (context) => {
      const [question, position] = placeOf(context);
      return [`${question} ${position}`, `${position}`];
    },
    prior: (context, word) => {
      if (!/^w\d+$/.test(word)) return -1e9;
      const [question, position] = placeOf(context);
      if (right.get(question)?.[position] !== word) return 0;
      const p = chances[Number(question.slice(1))]! ** (1 / most);
      return Math.log((p * (vocabulary - 1)) / (1 - p));
    },
  });
}

/** The question, and the number of words said so far. */
function placeOf(context: readonly string[]): [question: string, position: number] {
  const begun = context.lastIndexOf("<assistant>");
  return [context.find((word) => /^q\d+$/.test(word)) ?? "", context.length - 1 - begun];
}

/** Exact probability that the policy answers an open question of training rightly, without help; mean over them. */
export const unaidedSuccess = (policy: Model, environment: Environment): Promise<number> =>
  meanOver(
    environment.tasks("train"),
    async (task) => (await replyProbabilities(policy, task, [secretOf(task).join(" ")]))[0]!,
  );

/** Chooses like `uniform`, and asks each task in a format that is drawn anew at each visit. */
function inAnyFormat(tasks: number): Data<UniformState> {
  const each = uniform({ tasks });
  return {
    ...each,
    name: "any format",
    async choose(ctx, all, state) {
      const chosen = await each.choose(ctx, all, state);
      const asked = chosen.tasks.map((task) => {
        const drawn = ctx.random.split("format", task.id).below(formats.length);
        return posed(task, formats[drawn]!, ctx.clock.iteration);
      });
      return { tasks: asked, next: chosen.next };
    },
  };
}

/** GRPO on a uniform mixture of all formats: what any order of formats has to beat. */
export const mixedFormats = method({
  id: "mixed-formats",
  family: "curriculum",
  summary: "GRPO on a uniform mixture of the formats of each task",
  slots: ({ tasks }) => ({ data: inAnyFormat(tasks) }),
});
