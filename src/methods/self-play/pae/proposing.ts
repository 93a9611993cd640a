import type { Ctx } from "../../../core/context.ts";
import type { Data } from "../../../core/slots.ts";
import type { ModelId, Task } from "../../../core/types.ts";
import { asProposed } from "../../../data/proposed.ts";

/** Writes texts of tasks to train on. @param given the training tasks. Texts may repeat, and may ask for what cannot be done. */
export type Propose = (ctx: Ctx, given: readonly Task[], count: number) => Promise<readonly string[]>;

/** Settings of {@link proposing}. */
export interface ProposingOptions {
  /** Tasks of an iteration. Default 8. */
  readonly tasks?: number;
  /** Default: {@link proposedBy} the run's model "proposer". */
  readonly propose?: Propose;
}

/**
 * Trains on tasks that a proposer writes, and on none of those given: every iteration has `tasks` new proposals. A proposal is a given task
 * with its last message replaced, so that it starts in the same place; what it asks for has no reference, and only an evaluator can tell
 * whether it was done. Equal texts are one task, and empty ones none; where nothing is left, the given tasks are used.
 * Paper: "Proposer-Agent-Evaluator(PAE): Autonomous Skill Discovery For Foundation Model Internet Agents".
 */
export function proposing({ tasks: count = 8, propose = proposedBy() }: ProposingOptions = {}): Data<null> {
  return {
    name: "proposing",
    init: () => null,
    async choose(ctx, tasks) {
      const texts = (await propose(ctx, tasks, count)).map((text) => text.trim());
      const distinct = [...new Set(texts)].filter((text) => text !== "").slice(0, count);
      const proposed = distinct.map((text, i) => {
        const at = ctx.random.split("place", i).below(tasks.length);
        return asProposed(tasks[at]!, text, `proposed/${ctx.clock.iteration}/${i}`);
      });
      return { tasks: proposed.length > 0 ? proposed : tasks.slice(0, count), next: null };
    },
    observe: async (_ctx, _annotated, state) => state,
  };
}

/** What the proposer is asked, after the context. */
export const proposalQuestion = "Write one task that a user could ask for here .";

/** Settings of {@link proposedBy}. */
export interface ProposedByOptions {
  /** Which of the run's models writes. Default "proposer". */
  readonly model?: ModelId;
  /** What it knows of the environment. Default: up to three of the given tasks, drawn anew for each proposal. */
  readonly context?: string;
  /** Longest proposal, in tokens. Default 32. */
  readonly maxTokens?: number;
}

/** Samples proposals from a model that is told a context and {@link proposalQuestion}. Counts generations and tokens.sampled. */
export function proposedBy({
  model: id = "proposer",
  context,
  maxTokens = 32,
}: ProposedByOptions = {}): Propose {
  return async (ctx, given, count) => {
    const model = ctx.model(id);
    const requests = Array.from({ length: count }, (_, i) => {
      const random = ctx.random.split("proposal", i);
      const shown = Array.from(
        { length: Math.min(3, given.length) },
        () => given[random.below(given.length)]!,
      );
      const known = context ?? shown.map(({ prompt }) => prompt.at(-1)?.content ?? "").join("\n");
      const prompt = model.codec.open([{ role: "user", content: `${known}\n${proposalQuestion}` }]);
      return { prompt, maxTokens, seed: random.seed };
    });
    const fitting = requests.filter(({ prompt }) => prompt.length + maxTokens <= model.contextTokens);
    const replies = await model.sample(fitting);
    ctx.count("generations", replies.length);
    ctx.count(
      "tokens.sampled",
      replies.reduce((sum, { action }) => sum + action.length, 0),
    );
    return replies.map(({ action }) => model.codec.decode(action));
  };
}
