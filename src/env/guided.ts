/** Any environment, played by somebody whose weights nobody can touch: what is learnt is the hint that it is given. */
import { applied } from "../common/artefacts/applyArtefact.ts";
import type { Guide } from "../core/artefact.ts";
import type { Chat, ChatRequest } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type { Ending, Message, Task } from "../core/types.ts";
import { demand, isWhole } from "./demand.ts";
import { alreadyOver, defineEnvironment, type Environment, type Player } from "./environment.ts";

/** What the black box is asked. */
export interface GuidedRequest {
  readonly task: Task;
  /** All that it sees, the hint included. */
  readonly messages: readonly Message[];
  /** As the guide wrote it; "" where it wrote nothing. */
  readonly hint: string;
  /** Of this reply alone. */
  readonly seed: number;
}

/** Plays under a hint. Nothing of it is seen but its words. */
export type BlackBox = (asked: GuidedRequest) => string | Promise<string>;

/**
 * Any model that talks, as the black box. Equal requests are answered from its cache, where it has one.
 * @example guided(tickets(), { blackBox: chatBlackBox(chat, { temperature: 0.7 }), words })
 */
export const chatBlackBox =
  (chat: Chat, request: Pick<ChatRequest, "maxTokens" | "temperature" | "stop"> = {}): BlackBox =>
  async ({ messages, seed }) =>
    (await chat.reply({ ...request, messages, seed })).message.content;

/** Settings of {@link guided}. */
export interface GuidedOptions {
  readonly blackBox: BlackBox;
  /** How the hint stands in the black box's prompt. Default "Hint: {hint}". */
  readonly frame?: Guide["frame"];
  /** Plays under each hint, over which its reward is averaged. Default 1. */
  readonly plays?: number;
  /** Longest hint, in tokens. Default 16. */
  readonly hintTokens?: number;
  /** Texts with every word of hints that the environment's lexicon lacks. */
  readonly words?: readonly string[];
  /** Writes hints to begin with, e.g. words of the reference that stand in the question: what a warm start imitates. */
  readonly pseudoHint?: Player;
}

/**
 * The same tasks, for a guide: it sees what is asked first, and its one action is a hint. Then the black box plays the
 * whole episode, under the hint and framed as a guide's hint is when it is served. `outcome` is what its plays were paid,
 *
 *     R = 1/k Σ_j (sum of the rewards of play j)          k plays, each with a stream of its own
 *
 * and the success is that of the first play, as it would be with one. `text` is what the black box said in it. An empty
 * hint adds nothing to the prompt. A play that fails fails the episode.
 * Paper: "Guiding Large Language Models via Directional Stimulus Prompting".
 * @throws WhetstoneError `config.invalid` for an environment of several roles, `option.range`.
 */
export function guided(environment: Environment, options: GuidedOptions): Environment {
  const { blackBox, frame = "Hint: {hint}", plays = 1, hintTokens = 16, words = [], pseudoHint } = options;
  demand(isWhole(plays, 1, 1000), "guided: plays", plays, "a whole number from 1 to 1000");
  demand(isWhole(hintTokens, 1, 4096), "guided: hintTokens", hintTokens, "a whole number from 1 to 4096");
  const { name, summary, roles, splits, limits, lexicon } = environment;
  const [role] = roles;
  if (role === undefined || roles.length > 1) {
    throw new WhetstoneError("config.invalid", {
      where: `guided, environment "${name}"`,
      got: `the roles ${roles.join(", ")}`,
      expected: "an environment of one role, which the black box plays",
      mend: "Wrap an environment in which one agent acts.",
    });
  }
  const guide: Guide = { kind: "guide", policy: "policy", frame };

  /** One whole episode of the environment, by the black box. */
  async function play(task: Task, hint: string, random: Random): Promise<Played> {
    const episode = await environment.start(task, random.split("world"));
    let conversation: readonly Message[] = task.prompt;
    let paid = 0;
    const said: string[] = [];
    try {
      for (let turn = 0; turn < limits.turns; turn++) {
        const { observation } = await episode.observe();
        conversation = observation.whole ? observation.messages : [...conversation, ...observation.messages];
        const { messages } = applied(guide, conversation, { hint });
        const content = await blackBox({ task, messages, hint, seed: random.split("reply", turn).seed });
        said.push(content);
        const { rewards = {}, end } = await episode.act({ content, stop: "eos" });
        for (const amount of Object.values(rewards)) paid += amount;
        if (end) return { paid, said, end };
        conversation = [...conversation, { role: "assistant", content }];
      }
      return { paid, said, end: { kind: "truncated", limit: "turns", at: limits.turns } };
    } finally {
      await episode.close?.();
    }
  }

  return defineEnvironment({
    name: `guided-${name}`,
    summary: `${summary}; a black box plays it, under a hint that is to be written`,
    abilities: new Set(),
    roles: [role],
    splits,
    limits: { ...limits, turns: 1, actionTokens: hintTokens },
    tasks: (split) => environment.tasks(split),
    ...(lexicon && { lexicon: () => [...lexicon(), ...words] }),
    ...(pseudoHint && { flawed: pseudoHint }),
    async start(task, random) {
      let over = false;
      return {
        async observe() {
          if (over) return { role, observation: { messages: [] } };
          const episode = await environment.start(task, random.split("play", 0).split("world"));
          const { observation } = await episode.observe();
          await episode.close?.();
          const { messages, whole } = observation;
          return { role, observation: { messages, ...(whole === undefined ? {} : { whole }) } };
        },
        async act({ content }) {
          if (over) return alreadyOver;
          over = true;
          const hint = content.trim();
          const played = await Promise.all(
            Array.from({ length: plays }, (_, j) => play(task, hint, random.split("play", j))),
          );
          const failed = played.find(({ end }) => end.kind === "failed");
          if (failed) return { end: failed.end };
          const { said, end } = played[0]!;
          const outcome = played.reduce((sum, { paid }) => sum + paid, 0) / plays;
          const success = end.kind === "done" && end.success === true;
          return {
            rewards: { outcome },
            text: said.join("\n"),
            end: { kind: "done", reason: success ? "it succeeded" : "it did not succeed", success },
          };
        },
      };
    },
  });
}

interface Played {
  readonly paid: number;
  readonly said: readonly string[];
  readonly end: Ending;
}
