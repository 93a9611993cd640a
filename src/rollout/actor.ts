/**
 * Actors: what acts in an episode. A token model, a chat model, a script and a program act through one type, and an
 * artefact is a wrapper around an actor.
 */
import { applyArtefact } from "../common/artefacts/applyArtefact.ts";
import { concatIds } from "../common/tokens/sequence.ts";
import { sampledTokens } from "../common/tokens/turns.ts";
import { type Artefact, artefactId } from "../core/artefact.ts";
import type { Chat, ChatRequest } from "../core/chat.ts";
import { isWhetstoneError, messageOf, present } from "../core/errors.ts";
import type { Codec, Draw, Sample, SampleRequest } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Ending, Id, Message, ModelId, StopReason, Task, TurnTokens } from "../core/types.ts";
import type { Environment, Observation, Player } from "../env/environment.ts";
import { EnvironmentFailure } from "./environmentWatch.ts";

/** What an actor acts on. */
export interface ActRequest {
  readonly environment: Pick<Environment, "tools" | "limits">;
  readonly task: Task;
  /** The role's whole conversation so far. */
  readonly messages: readonly Message[];
  readonly observation: Observation;
  /** The conversation's tokens, up to the start of the action: the role's sequence, extended by what is new. */
  promptTokens(codec: Codec): Int32Array;
  /** Stream of this action. */
  readonly random: Random;
  /** Sampling temperature. Default 1. */
  readonly temperature?: number | undefined;
  /** Samples among the most probable tokens whose probabilities together reach this value. Default 1: among all. */
  readonly topP?: number | undefined;
  /** Restricts sampling to the legal actions that the observation lists. */
  readonly constrained?: boolean | undefined;
  /** Token limit of the action, in place of the environment's. */
  readonly actionTokens?: number | undefined;
  readonly draw?: Draw | undefined;
}

/** An action as its actor made it. */
export interface Acted {
  /** Version of the weights, prompt or memory that acted. */
  readonly version: string;
  readonly action: Message;
  readonly stop: StopReason;
  /** `prompt` is the array that `promptTokens` returned. */
  readonly tokens?: TurnTokens;
}

/** Acts for a role. See {@link modelActor}, {@link chatActor}, {@link scriptActor} and {@link withArtefact}. */
export interface Actor {
  readonly id: ModelId;
  /** Of its trajectories: "sampled" from a model, "demonstrated" by a script or program. */
  readonly origin: "sampled" | "demonstrated";
  /** Set for a token model: environments then get the tokens of its actions. */
  readonly codec?: Codec;
  /** Rewrites a conversation before the first action on it. `shown`: ids of the artefact's parts that it contains. */
  open?(messages: readonly Message[]): {
    readonly messages: readonly Message[];
    readonly shown: readonly Id[];
  };
  /** The next action, or how the episode ends instead. */
  act(request: ActRequest): Promise<Acted | { readonly end: Ending }>;
}

/** What a token model needs for acting. */
export interface ModelActorParts {
  readonly id: ModelId;
  readonly codec: Codec;
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  sample(requests: readonly SampleRequest[]): Promise<Sample[]>;
}

/** A token model, or a frozen one. */
export function modelActor(parts: ModelActorParts): Actor {
  const { id, codec, contextTokens } = parts;
  return {
    id,
    origin: "sampled",
    codec,
    async act(request) {
      const { observation, environment, actionTokens = environment.limits.actionTokens } = request;
      const prompt = promptOf(request, codec);
      if ("end" in prompt) return prompt;
      const room = contextTokens - prompt.length;
      if (room < 1) return { end: { kind: "truncated", limit: "tokens", at: prompt.length } };
      const { temperature, topP, draw } = request;
      const [drawn] = await parts.sample([
        {
          prompt,
          maxTokens: Math.min(room, actionTokens, observation.maxTokens ?? Number.POSITIVE_INFINITY),
          ...(temperature === undefined ? {} : { temperature }),
          ...(topP === undefined ? {} : { topP }),
          ...(observation.stop === undefined ? {} : { stop: observation.stop }),
          ...(request.constrained && observation.legal
            ? { choices: choicesOf(observation.legal, codec) }
            : {}),
          seed: request.random.seed,
          ...(draw ? { draw } : {}),
        },
      ]);
      const sample = present(drawn, "playEpisode", "sample from the model");
      return {
        version: sample.version,
        action: { role: "assistant", content: codec.decode(sample.action) },
        stop: sample.stop,
        tokens: sampledTokens(prompt, sample),
      };
    },
  };
}

/** The prompt's tokens; an environment that writes whole conversations may write one that the model cannot encode. */
function promptOf(request: ActRequest, codec: Codec): Int32Array | { readonly end: Ending } {
  try {
    return request.promptTokens(codec);
  } catch (e) {
    if (request.observation.whole === undefined || !isWhetstoneError(e)) throw e;
    return { end: { kind: "failed", boundary: "environment", message: e.message } };
  }
}

/** Encodes each text as a complete reply with its end, so that one text may be a prefix of another. */
const choicesOf = (texts: readonly string[], codec: Codec): Int32Array[] => texts.map((t) => reply(t, codec));

const reply = (text: string, codec: Codec): Int32Array =>
  concatIds([codec.encode(text), Int32Array.of(codec.endId)]);

/**
 * A chat model. Its turns carry no tokens, and token limits of the episode do not apply, since they count another
 * tokenizer's tokens. A request that the provider fails ends the episode as failed.
 */
export const chatActor = (id: ModelId, chat: Chat): Actor => ({
  id,
  origin: "sampled",
  async act({ messages, observation, environment, random, temperature = 1, topP }) {
    const tools = messages.findLast((m) => m.tools)?.tools ?? environment.tools;
    const asked: ChatRequest = {
      messages,
      temperature,
      ...(topP === undefined ? {} : { topP }),
      seed: random.seed,
      ...(tools ? { tools } : {}),
      ...(observation.maxTokens === undefined ? {} : { maxTokens: observation.maxTokens }),
      ...(observation.stop === undefined ? {} : { stop: observation.stop }),
    };
    try {
      const { message, stop } = await chat.reply(asked);
      return { version: chat.id, action: message, stop };
    } catch (e) {
      if (!isWhetstoneError(e) || e.code !== "chat.failed") throw e;
      return { end: { kind: "failed", boundary: "model", message: e.message } };
    }
  },
});

/**
 * A scripted player or a program. Its errors are failures of the environment.
 * @param tokens if given, its turns carry tokens: the encoded text and the end token, with unknown log-probabilities.
 */
export const scriptActor = (
  id: ModelId,
  player: Player,
  tokens?: { readonly codec: Codec; readonly contextTokens?: number },
): Actor => ({
  id,
  origin: "demonstrated",
  async act(request) {
    const content = played(player, request);
    const acted = { version: "script", action: { role: "assistant", content }, stop: "eos" } as const;
    if (!tokens) return acted;
    const { codec, contextTokens = Number.POSITIVE_INFINITY } = tokens;
    const prompt = request.promptTokens(codec);
    const action = reply(content, codec);
    if (prompt.length + action.length > contextTokens)
      return { end: { kind: "truncated", limit: "tokens", at: prompt.length } };
    const unknown = new Float32Array(action.length).fill(Number.NaN);
    return { ...acted, tokens: { prompt, action, logp: unknown, behaviour: unknown } };
  },
});

function played(player: Player, { task, messages, random, observation }: ActRequest): string {
  try {
    return player(task, messages, random, observation.legal);
  } catch (thrown) {
    throw new EnvironmentFailure(`the scripted player threw: ${messageOf(thrown)}`);
  }
}

/**
 * The actor with an artefact in its prompts. It is applied before the first action of a conversation, and again to each
 * conversation that the environment writes whole; the versions of the turns name it.
 */
export const withArtefact = (actor: Actor, artefact: Artefact): Actor => ({
  ...actor,
  open: (messages) => applyArtefact(artefact, messages),
  async act(request) {
    const acted = await actor.act(request);
    return "end" in acted ? acted : { ...acted, version: `${acted.version}+${artefactId(artefact)}` };
  },
});
