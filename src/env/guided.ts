/** Directional stimulus prompting: a black-box model plays any environment, and the policy learns to write its hint. */
import { applyArtefact } from "../common/artefacts/applyArtefact.ts";
import type { Guide } from "../core/artefact.ts";
import type { Chat, ChatRequest } from "../core/chat.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Random } from "../core/random.ts";
import type { Ending, Message, Task } from "../core/types.ts";
import { demand, isWhole } from "./demand.ts";
import { alreadyOver, defineEnvironment, type Environment, type Player } from "./environment.ts";

/** A request to the black box. */
export interface GuidedRequest {
  readonly task: Task;
  /** The whole conversation, including the hint. */
  readonly messages: readonly Message[];
  /** The guide's hint; "" where it wrote none. */
  readonly hint: string;
  /** Seed of this reply alone. */
  readonly seed: number;
}

/** A model that plays with a hint; only its replies are visible. */
export type BlackBox = (asked: GuidedRequest) => string | Promise<string>;

/**
 * A chat model as the black box. Equal requests are answered from its cache, where it has one.
 * @example guided(tickets(), { blackBox: chatBlackBox(chat, { temperature: 0.7 }), words })
 */
export const chatBlackBox =
  (chat: Chat, request: Pick<ChatRequest, "maxTokens" | "temperature" | "stop"> = {}): BlackBox =>
  async ({ messages, seed }) =>
    (await chat.reply({ ...request, messages, seed })).message.content;

/** Settings of {@link guided}. */
export interface GuidedOptions {
  readonly blackBox: BlackBox;
  /** Template of the hint in the black box's prompt. Default "Hint: {hint}". */
  readonly frame?: Guide["frame"];
  /** Number of plays per hint, over which the reward is averaged. Default 1. */
  readonly plays?: number;
  /** Largest length of a hint, in tokens. Default 16. */
  readonly hintTokens?: number;
  /** Texts with every word of hints that the environment's vocabulary lacks. */
  readonly words?: readonly string[];
  /** Writes pseudo hints for a warm start to imitate, e.g. words of the reference that occur in the question. */
  readonly pseudoHint?: Player;
}

/**
 * The same tasks, for a guide: it sees the first observation, and its one action is a hint. Then the black box plays the
 * whole episode with the hint, framed as in serving. `outcome` is the mean reward of its plays,
 *
 *     R = 1/k Σ_j (sum of the rewards of play j)          k plays, each with its own random stream
 *
 * and the success is that of the first play. `text` holds the black box's replies in the first play. An empty hint adds
 * nothing to the prompt. A failed play fails the episode.
 * Paper: "Guiding Large Language Models via Directional Stimulus Prompting".
 * @throws WhetstoneError `config.invalid` for an environment of several roles, `option.range`.
 */
export function guided(environment: Environment, options: GuidedOptions): Environment {
  const { blackBox, frame = "Hint: {hint}", plays = 1, hintTokens = 16, words = [], pseudoHint } = options;
  demand(isWhole(plays, 1, 1000), "guided: plays", plays, "a whole number from 1 to 1000");
  demand(isWhole(hintTokens, 1, 4096), "guided: hintTokens", hintTokens, "a whole number from 1 to 4096");
  const { name, summary, roles, splits, limits, vocabulary } = environment;
  const [role] = roles;
  if (role === undefined || roles.length > 1) {
    throw new WhetstoneError("config.invalid", {
      where: `guided, environment "${name}"`,
      got: `the roles ${roles.join(", ")}`,
      expected: "an environment of one role, which the black box plays",
      fix: "Wrap an environment in which one agent acts.",
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
        const { messages } = applyArtefact(guide, conversation, { hint });
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
    ...(vocabulary && { vocabulary: () => [...vocabulary(), ...words] }),
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
