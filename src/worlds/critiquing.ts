import type { CritiqueDetail } from "../core/critique.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Task, Trajectory } from "../core/types.ts";
import type { Environment } from "../env/environment.ts";
import type { Teacher } from "./tryAgain.ts";

/** Settings of {@link critiquing}. */
export interface CritiquingOptions {
  /** Probability that a critique is true; otherwise it misleads. Default 1. */
  readonly accuracy?: number;
  /** Default "hint". */
  readonly detail?: CritiqueDetail;
}

/**
 * A teacher that answers each reply with the environment's own critique: `tryAgain(environment, { words:
 * critiquing(environment), vocabulary: environment.critiqueVocabulary })`.
 * @throws WhetstoneError `config.invalid` for an environment without critiques.
 */
export function critiquing(environment: Environment, options: CritiquingOptions = {}): Teacher {
  const { accuracy = 1, detail = "hint" } = options;
  const { critique } = environment;
  if (!critique) {
    throw new WhetstoneError("config.invalid", {
      where: `critiquing, environment "${environment.name}"`,
      got: "an environment without critiques",
      expected: "an environment with `critique`",
      fix: "Implement `critique` in the environment, or use another teacher.",
    });
  }
  return async ({ task, replies, random }) => {
    const right = random.split("accuracy").next() < accuracy;
    const request = { right, detail, random: random.split("template") };
    return (await critique(task, replied(environment, task, replies.at(-1) ?? ""), request)).text;
  };
}

/** One reply as a trajectory. */
function replied({ roles }: Environment, task: Task, content: string): Trajectory {
  const role = roles[0] ?? "agent";
  const turn = {
    role,
    model: "policy",
    version: "",
    prompt: task.prompt,
    action: { role: "assistant", content },
    spans: {},
    stop: "eos",
    rewards: {},
    ms: 0,
  } as const;
  return {
    id: task.id,
    task: task.id,
    episode: task.id,
    role,
    turns: [turn],
    end: { kind: "done", reason: "replied" },
    origin: "sampled",
  };
}
