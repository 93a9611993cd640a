/** Questions about documents that take one hop or more; some depths have no answer, and one needs no document. */

import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { oneReply } from "../../../env/oneReply.ts";
import type { QuestionReward } from "./rewards.ts";
import type { ReadQuestion } from "./threeRoles.ts";

/** Depths that have an answer, from 1, and deeper ones that have none. */
export const [answerable, deepest] = [12, 16] as const;
const documents = 8;
/** All questions: `h0` is answered without documents. */
export const depthWords = Array.from({ length: deepest + 1 }, (_, depth) => `h${depth}`);

const depthOf = (word: string | undefined): number => depthWords.indexOf(word ?? "");

/** A task is a set of documents, `d3`, with a question as its last message where one was asked. The answer is `found`; nothing is found too deep. */
export const depths = (seed: number): Environment =>
  oneReply({
    name: "depths",
    summary: "follow links through documents, some of which lead nowhere",
    questions: documents,
    length: 1,
    words: ["found", "lost", ...depthWords],
    seed,
    ask: (number) => `d${number}`,
    grade: (task: Task, reply) => {
      const success = reply === "found" && depthOf(task.prompt.at(-1)?.content) <= answerable;
      return { rewards: { outcome: Number(success) }, success };
    },
    expert: () => "found",
  });

/** A question is the first word for a depth, and its reference is what is found. */
export const depthAsked: ReadQuestion = (text) => {
  const question = text.split(/\s+/).find((word) => depthOf(word) >= 0);
  return question === undefined ? undefined : { question, reference: "found" };
};

/** Pays a question for what few answers get right. */
export const hardest: QuestionReward = (share) => 1 - share;

/** Which role speaks, the depth that is asked for, whether documents are there, and whether answer and reference are the same. */
const read = (context: readonly string[]) => {
  const role = context.includes("Write")
    ? "questioner"
    : context.includes("reference")
      ? "verifier"
      : "responder";
  const depth = depthOf(context.findLast((word) => depthOf(word) >= 0));
  const bar = context.lastIndexOf("|");
  return {
    role,
    depth,
    told: context.some((word) => /^d\d+$/.test(word)),
    same: context[bar - 1] === context[bar + 1],
  } as const;
};

/** Logit of a true verdict at first: four in five. */
const sure = Math.log(4);

/**
 * At first all depths are asked alike, the first hop is found with a probability of 0.88 and each further one has a logit that is 1.3 lower, and a verdict
 * is true four times in five. What is too deep, or asked without documents, is never found, but for `h0`, which always is.
 */
export const depthSpeaker = (context: readonly string[], word: string): number => {
  const { role, depth, told, same } = read(context);
  if (role !== "responder" && context.at(-1) !== "<assistant>") return word === "<end>" ? 0 : -1e9;
  if (role === "questioner") return depthOf(word) >= 0 ? 0 : -1e9;
  if (role === "verifier") return word === (same ? "YES" : "NO") ? sure : /^(YES|NO)$/.test(word) ? 0 : -1e9;
  if (word === "lost") return depth === 0 ? -1e9 : 0;
  if (word !== "found" || depth > answerable) return -1e9;
  if (depth === 0) return 0;
  return told ? 2 - 1.3 * (depth - 1) : -1e9;
};

/** What is learnt at a depth carries over to depths next to it. */
export const depthReader = (context: readonly string[]): readonly string[] => {
  const { role, depth, same } = read(context);
  if (role === "responder") return [-1, 0, 1].map((by) => `hop ${depth + by}`);
  return role === "verifier" ? [`verdict ${same}`] : ["question"];
};
