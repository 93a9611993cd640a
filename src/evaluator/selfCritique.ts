import { sampledTurn } from "../common/tokens/turns.ts";
import type { Critique } from "../core/critique.ts";
import { present } from "../core/errors.ts";
import type { Able } from "../core/evaluator.ts";
import type { Message, ModelId, StopReason, Trajectory, Turn } from "../core/types.ts";
import { critiqueQuestion, readCritique } from "./writtenCritique.ts";

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
 * and action, and a question. The critique holds the reply with its exact tokens, as a trajectory of the role "critiquer", so
 * that writing critiques can be trained.
 *
 * A reply that cannot be parsed, or does not fit the context, is not a critique: it is a failure, and its tokens count
 * as discarded. Counts generations and tokens.sampled. Needs a run.
 */
export function selfCritique(options: SelfCritiqueOptions = {}): Able<"critique"> {
  const { model: id = "policy", question = critiqueQuestion, maxTokens = 128, temperature } = options;
  const { read = (text, t, stop) => (stop === "length" ? undefined : readCritique(text, t)) } = options;
  return {
    name: `self-critique by ${id}`,
    async critique({ trajectory: t }, { random, run }) {
      const last = t.turns.at(-1);
      if (!last) return undefined;
      const model = present(run?.model, "selfCritique", "model of a run")(id);
      const asked = typeof question === "string" ? question : question(t);
      const messages: readonly Message[] = [...last.prompt, last.action, { role: "user", content: asked }];
      const prompt = model.codec.open(messages);
      const room = Math.min(maxTokens, model.contextTokens - prompt.length);
      if (room < 1) return undefined;
      const request = { prompt, maxTokens: room, seed: random.seed };
      const [sample] = await model.sample([
        temperature === undefined ? request : { ...request, temperature },
      ]);
      if (!sample) return undefined;
      run?.count("generations", 1);
      run?.count("tokens.sampled", sample.action.length);
      // a fork is known by its name in the run
      const as = { model: { id, codec: model.codec }, role: critiquerRole };
      const turn = sampledTurn({ ...as, prompt, messages, sample });
      const critique = read(turn.action.content, t, turn.stop);
      if (!critique) {
        run?.count("tokens.discarded", sample.action.length);
        return undefined;
      }
      return { ...critique, written: writtenBy(turn, t) };
    },
  };
}

const critiquerRole = "critiquer";

/** A critique as a trajectory of one turn. */
const writtenBy = (turn: Turn, { id, task, episode }: Trajectory): Trajectory => ({
  id: `${id}/critique`,
  task,
  episode,
  role: critiquerRole,
  turns: [turn],
  end: { kind: "done", reason: "written" },
  origin: "sampled",
});
