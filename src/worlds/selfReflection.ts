/** Self-reflection format for any single-reply environment: an attempt, a reflection and a revised attempt in one reply. */

import { readTwoAnswers, twoAnswers } from "../common/text/twoAnswers.ts";
import { WhetstoneError } from "../core/errors.ts";
import { type Random, randomStream } from "../core/random.ts";
import type { Task } from "../core/types.ts";
import { defineEnvironment, type Environment, type Episode, type Player } from "../env/environment.ts";

/** Settings of {@link selfReflection}. */
export interface SelfReflectionOptions {
  /** Share of the expert's demonstrations with a right first answer; the others correct a wrong one. Default 0.3. */
  readonly right?: number;
  /** Largest length of a reply, in tokens. Default: four times the environment's own, plus 24 for tags and words. */
  readonly actionTokens?: number;
}

const thought = { first: "try", second: "so" };
const remarks = { right: "that is right", wrong: "that is wrong" };

/**
 * The same tasks with replies in the form think, answer, reflection, think, answer, in tags. The last answer is judged in
 * place of the whole reply; a reply without an answer is judged whole. The expert demonstrates the form: with probability
 * `right` its first answer is right; otherwise it first gives the answer of another task, says that it is wrong, and corrects
 * it.
 * Paper: "SRPO: Enhancing Multimodal LLM Reasoning via Reflection-Aware Reinforcement Learning".
 * @throws WhetstoneError `config.invalid` for an environment of several turns, or without an expert or a verifier.
 */
export function selfReflection(environment: Environment, options: SelfReflectionOptions = {}): Environment {
  const { right = 0.3, actionTokens = 4 * environment.limits.actionTokens + 24 } = options;
  // the environment's flawed player and critique do not know this format
  const {
    expert: solve,
    flawed: _flawed,
    critique: _critique,
    verify,
    vocabulary,
    limits,
    ...rest
  } = environment;
  const lacks =
    limits.turns !== 1 ? `${limits.turns} turns` : !solve ? "no expert" : !verify ? "no verify" : "";
  if (!solve || !verify || lacks !== "") {
    throw new WhetstoneError("config.invalid", {
      where: `selfReflection, environment "${environment.name}"`,
      got: lacks,
      expected:
        "an environment whose episodes are one reply, with an expert who knows it and that verifies any reply",
      fix: "Wrap an environment of a single reply that has expert and verify.",
    });
  }
  const judged = (content: string): string => readTwoAnswers(content).answers.at(-1) ?? content;
  const expert: Player = (task, conversation, random) => {
    const answer = solve(task, conversation, random);
    const stream = randomStream(task.seed).split("second thoughts");
    const slip =
      stream.split("slip").next() < right ? undefined : elsewhere(task, answer, stream.split("elsewhere"));
    const first = { thought: thought.first, answer: slip ?? answer };
    const said = slip === undefined ? remarks.right : remarks.wrong;
    return twoAnswers(first, said, { thought: thought.second, answer });
  };
  let known: readonly Task[] | undefined;
  /** The expert's answer to another task, if a different one exists. */
  const elsewhere = ({ id }: Task, answer: string, random: Random): string | undefined => {
    known ??= environment.tasks(environment.splits[0]!);
    const from = random.below(known.length);
    for (let k = 0; k < known.length; k++) {
      const other = known[(from + k) % known.length]!;
      const given = other.id === id ? answer : solve(other, other.prompt, random);
      if (given !== answer) return given;
    }
    return undefined;
  };
  const wrapped = (inner: Episode): Episode => ({
    observe: () => inner.observe(),
    act: (action) => inner.act({ ...action, content: judged(action.content) }),
    close: async () => inner.close?.(),
  });
  return defineEnvironment({
    ...rest,
    name: `second-thoughts-${environment.name}`,
    summary: `${environment.summary}; answered twice in one reply, with a reflection in between`,
    limits: { ...limits, actionTokens },
    abilities: new Set([...environment.abilities].filter((ability) => ability !== "legal")),
    expert,
    start: async (task, random) => wrapped(await environment.start(task, random)),
    ...(vocabulary && {
      vocabulary: () => [
        ...vocabulary(),
        twoAnswers({ thought: thought.first, answer: "" }, remarks.right, {
          thought: thought.second,
          answer: "",
        }),
        remarks.wrong,
      ],
    }),
    verify: (task, trajectory) => {
      const turns = trajectory.turns.map((turn) => ({
        ...turn,
        action: { ...turn.action, content: judged(turn.action.content) },
      }));
      return verify(task, { ...trajectory, turns });
    },
  });
}
