import { sampledTurn } from "../../../common/tokens/turns.ts";
import type { Critique } from "../../../core/critique.ts";
import type { Critiquer } from "../../../core/critiquer.ts";
import type { Message, ModelId, StopReason, Trajectory } from "../../../core/types.ts";
import { critiqueQuestion, readCritique } from "./written.ts";

/** Settings of {@link selfCritique}. */
export interface SelfCritiqueOptions {
  /** Which of the run's models writes. Default "policy". */
  readonly model?: ModelId;
  /** The question after the attempt, which may add information about it. Default: {@link critiqueQuestion}. */
  readonly question?: string | ((t: Trajectory) => string);
  /** Parses the reply as a critique; undefined if it is none. Default: {@link readCritique}, of replies that were not truncated. */
  readonly read?: (text: string, t: Trajectory, stop: StopReason) => Critique | undefined;
  /** Longest reply. Default 128. */
  readonly maxTokens?: number;
  /** Default 1. */
  readonly temperature?: number;
}

/**
 * The policy, or another of the run's models, criticises an attempt in its own words: it reads the attempt's last prompt
 * and action, and a question. The critique holds the reply with its exact tokens, as a trajectory of the role "critic", so
 * that writing critiques can be trained.
 *
 * A reply that cannot be parsed, or does not fit the context, is not a critique: it counts as "judge.failures", its tokens
 * as discarded. Counts judge.calls, generations, tokens.sampled. An attempt without actions is skipped.
 */
export function selfCritique(options: SelfCritiqueOptions = {}): Critiquer {
  const { model: id = "policy", question = critiqueQuestion, maxTokens = 128, temperature } = options;
  const { read = (text, t, stop) => (stop === "length" ? undefined : readCritique(text, t)) } = options;
  return async (ctx, t, random) => {
    const last = t.turns.at(-1);
    if (!last) return undefined;
    const model = ctx.model(id);
    const asked = typeof question === "string" ? question : question(t);
    const messages: readonly Message[] = [...last.prompt, last.action, { role: "user", content: asked }];
    const prompt = model.codec.open(messages);
    const room = Math.min(maxTokens, model.contextTokens - prompt.length);
    ctx.count("judge.calls", 1);
    const [sample] =
      room < 1
        ? []
        : await model.sample([
            {
              prompt,
              maxTokens: room,
              seed: random.seed,
              ...(temperature !== undefined && { temperature }),
            },
          ]);
    if (!sample) {
      ctx.count("judge.failures", 1);
      return undefined;
    }
    ctx.count("generations", 1);
    ctx.count("tokens.sampled", sample.action.length);
    // a fork is known by its name in the run
    const turn = sampledTurn({ model: { id, codec: model.codec }, role: "critic", prompt, messages, sample });
    const critique = read(turn.action.content, t, turn.stop);
    if (!critique) {
      ctx.count("judge.failures", 1);
      ctx.count("tokens.discarded", sample.action.length);
      return undefined;
    }
    const written: Trajectory = {
      id: `${t.id}/critique`,
      task: t.task,
      episode: t.episode,
      role: "critic",
      turns: [turn],
      end: { kind: "done", reason: "written" },
      origin: "sampled",
    };
    return { ...critique, written };
  };
}
