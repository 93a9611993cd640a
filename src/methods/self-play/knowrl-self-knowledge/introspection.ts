/** Proposals of tasks that the policy believes it can or cannot do, and its judgements of them. */
import { randomStream } from "../../../core/random.ts";
import type { Task } from "../../../core/types.ts";
import type { Environment } from "../../../env/environment.ts";
import { alreadyOver, defineEnvironment } from "../../../env/environment.ts";

/** Labels: what the policy says that it can do, and what not. */
export const labels = ["feasible", "infeasible"] as const;
export type Label = (typeof labels)[number];

/** Prompt under which a task is proposed, in two words: the label and the task. */
export const proposing = "propose";
/** First word of the prompt under which a task is judged, by one label. */
export const judging = "judge";

/** Settings of {@link introspection}. */
export interface IntrospectionOptions {
  /** Kinds of tasks. Default 30. */
  readonly kinds?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** The task whose kind is to be judged. */
export const judgementOf = (kind: string): Task => ({
  id: `introspection/judge/${kind}`,
  prompt: [{ role: "user", content: `${judging} ${kind}` }],
  metadata: { kind },
  seed: 1,
});

/** Whether the policy really can do tasks of this kind: half of them, drawn. */
export const truthOf = (kind: string, seed: number): Label =>
  labels[randomStream(seed).split("truth", kind).below(2)]!;

/** A proposal in a reply; undefined where it is none. */
export function proposalIn(reply: string): { readonly label: Label; readonly kind: string } | undefined {
  const [said, kind, ...more] = reply.trim().split(/\s+/);
  const label = labels.find((one) => one === said);
  return label && kind && /^k\d+$/.test(kind) && more.length === 0 ? { label, kind } : undefined;
}

/**
 * It has one task, to propose. What is judged is trained on as well, and so is no task of its own. The reward `outcome` is 1 for what is true, and serves for
 * measuring alone: `selfConsistent` puts its own in its place. The expert proposes and judges truly.
 */
export function introspection({ kinds = 30, seed = 1 }: IntrospectionOptions = {}): Environment {
  const words = Array.from({ length: kinds }, (_, k) => `k${k}`);
  const propose: Task = {
    id: "introspection/propose",
    prompt: [{ role: "user", content: proposing }],
    metadata: {},
    seed: 1,
  };
  const isRight = (task: Task, reply: string): boolean => {
    if (typeof task.metadata.kind === "string") return reply.trim() === truthOf(task.metadata.kind, seed);
    const said = proposalIn(reply);
    return said !== undefined && words.includes(said.kind) && said.label === truthOf(said.kind, seed);
  };
  return defineEnvironment({
    name: "introspection",
    summary: "propose tasks that one can or cannot do, and judge which is which",
    abilities: new Set(["replay", "stateKey", "expert"] as const),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 1, actionTokens: 2 },
    vocabulary: () => [proposing, judging, ...labels, ...words],
    tasks: (split) => (split === "train" ? [propose] : []),
    expert: ({ metadata }) =>
      typeof metadata.kind === "string"
        ? truthOf(metadata.kind, seed)
        : `${truthOf(words[0]!, seed)} ${words[0]}`,
    start: async (task) => {
      let ended = false;
      const maxTokens = task.metadata.kind === undefined ? 2 : 1;
      return {
        observe: async () => ({ role: "agent", observation: { messages: [], stateKey: task.id, maxTokens } }),
        act: async ({ content }) => {
          if (ended) return alreadyOver;
          ended = true;
          const success = isRight(task, content);
          return {
            rewards: { outcome: Number(success) },
            end: { kind: "done", reason: success ? "true" : "not true", success },
          };
        },
      };
    },
    verify: async (task, { turns }) => ({
      outcome: Number(isRight(task, turns.at(-1)?.action.content ?? "")),
    }),
  });
}
