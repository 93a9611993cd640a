/** Plays one episode. Every rollout, evaluation and demonstration uses it. */
import { applyArtefact } from "../common/artefacts/applyArtefact.ts";
import { concatIds } from "../common/tokens/pack.ts";
import { sampledTurn, tokenTexts } from "../common/tokens/turns.ts";
import { type Artefact, artefactId } from "../core/artefact.ts";
import { type Chat, type ChatRequest, endsRun } from "../core/chat.ts";
import type { Advise } from "../core/context.ts";
import { isWhetstoneError, messageOf, present } from "../core/errors.ts";
import type { Codec, Draw, Sample, SampleRequest } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type {
  Ending,
  Id,
  Message,
  ModelId,
  Role,
  StopReason,
  Task,
  Trajectory,
  Turn,
} from "../core/types.ts";
import { requireEpisode, requireStep, requireTurn } from "../env/contract.ts";
import type { Action, Environment, Episode, Observation, Player, Step } from "../env/environment.ts";

/** The actor of a role: a token model (or frozen one), a chat model, or a scripted player. */
export type Actor =
  | {
      readonly kind: "model";
      readonly id: ModelId;
      readonly codec: Codec;
      /** Longest sequence, in tokens. */
      readonly contextTokens: number;
      sample(requests: readonly SampleRequest[]): Promise<Sample[]>;
    }
  /** Its turns carry no tokens. Token limits do not apply, since they count another tokenizer's tokens. */
  | { readonly kind: "chat"; readonly id: ModelId; readonly chat: Chat }
  | {
      readonly kind: "player";
      readonly id: ModelId;
      readonly player: Player;
      /** If set, the turns carry tokens: the encoded text and the end token, with unknown log-probabilities. */
      readonly codec?: Codec;
      readonly contextTokens?: number;
    };

/** Settings of {@link playEpisode}: the task, who acts in it, and what the actors are told. */
export interface EpisodeOptions {
  readonly environment: Environment;
  readonly task: Task;
  /** Id of the episode; its trajectories are `<id>/<role>`. */
  readonly id: Id;
  /** The actor of a role. Called once per role that acts. */
  actor(role: Role): Actor;
  /** All randomness of the episode. */
  readonly random: Random;
  /** Samples the first action as one of several draws. Only for episodes that all begin with the same prompt. */
  readonly draw?: Draw;
  /** Sampling temperature of every model. Default 1. */
  readonly temperature?: number;
  /** Where an observation lists legal actions, sampling is restricted to them. */
  readonly constrained?: boolean;
  /** Advice for the acting role before its first own action: the text of a separate user message, or messages. */
  readonly advice?: string | readonly Message[];
  /** Returns advice for the acting role before each own action. */
  readonly advise?: Advise;
  /** Artefact for actors of model "policy", applied before their first action; before every action where observations are whole conversations. */
  readonly artefact?: Artefact;
  /** Replays the turns before `turn` of this trajectory, with their recorded tokens, then continues. */
  readonly from?: {
    readonly trajectory: Trajectory;
    readonly turn: number;
    readonly why: "retry" | "branch";
  };
  /** Limits below the environment's own. `turns` counts the actions of all roles. */
  readonly limits?: { readonly turns?: number; readonly actionTokens?: number; readonly seconds?: number };
}

/** The running state of one role. */
interface RoleState {
  readonly actor: Actor;
  readonly conversation: Message[];
  readonly turns: Turn[];
  /** Tokens of the conversation up to and including the last action; undefined before the first. */
  sequence: Int32Array | undefined;
  stop: StopReason;
  /** Messages seen since the last action. */
  fresh: Message[];
  /** Ids of the artefact parts in its prompt. */
  shown: readonly Id[];
}

/**
 * Plays one episode to its end. The conversation of each role is one append-only token sequence: first `codec.open` of the
 * task's prompt and the observation, then the sampled tokens, then `codec.extend`; action tokens are never re-tokenised.
 *
 * An environment that throws, or exceeds its limit in seconds, ends the episode as `failed`. Only the environment's own time
 * counts, so that a slow model changes no result. Errors of a model are rethrown.
 * @returns one trajectory per role that acted, in the order of their first actions; one without turns if none did.
 */
export async function playEpisode(options: EpisodeOptions): Promise<readonly Trajectory[]> {
  const { environment, task, from } = options;
  const turnLimit = options.limits?.turns ?? environment.limits.turns;
  const watch = environmentWatch(options.limits?.seconds ?? environment.limits.seconds ?? 60);
  const lines = new Map<Role, RoleState>();
  let starting: Promise<Episode> | undefined;
  let episode: Episode | undefined;
  let advised = options.advice === undefined;
  let end: Ending | undefined;

  try {
    const begin = async (): Promise<Episode> =>
      requireEpisode(await (starting = environment.start(task, options.random.split("environment"))));
    episode = await watch("start()", begin);
    const playing = episode;
    for (let index = 0; end === undefined; index++) {
      const { role, observation } = await watch("observe()", async () =>
        requireTurn(await playing.observe(), environment),
      );
      let line = lines.get(role);
      if (!line) {
        const actor = options.actor(role);
        line = {
          actor,
          conversation: [...task.prompt],
          turns: [],
          sequence: undefined,
          stop: "eos",
          fresh: [],
          shown: [],
        };
        lines.set(role, line);
      }
      if (observation.whole) clearConversation(line);
      appendMessages(line, observation.messages);
      const replayed =
        from && role === from.trajectory.role && line.turns.length < from.turn
          ? from.trajectory.turns[line.turns.length]
          : undefined;
      if (!replayed && !advised && (!from || role === from.trajectory.role)) {
        appendMessages(line, adviceMessages(options.advice));
        advised = true;
      }
      if (!replayed && options.advise) {
        const { messages, stateKey } = observation;
        const turn = line.turns.length;
        const seen = { role, turn, messages: turn === 0 ? [...task.prompt, ...messages] : messages };
        appendMessages(
          line,
          await options.advise({ ...seen, ...(stateKey === undefined ? {} : { stateKey }) }),
        );
      }
      if (!replayed && (line.turns.length === 0 || observation.whole))
        applyArtefactTo(line, options.artefact);
      const made = replayed ? replayTurn(line, replayed) : await act(options, line, role, observation, index);
      if ("end" in made) {
        end = made.end;
        break;
      }
      const turn = replayed ? made : withArtefact(made, line, options.artefact);
      const { content, toolCalls } = turn.action;
      const action: Action = {
        content,
        stop: turn.stop,
        ...(toolCalls ? { toolCalls } : {}),
        ...sampledAction(turn, line.actor),
      };
      const acted = async (): Promise<Step> => requireStep(await playing.act(action));
      const step = await watch("act()", acted).catch((thrown: unknown) => {
        recordTurn(line, turn, {});
        throw thrown;
      });
      recordTurn(line, turn, step);
      end = step.end;
      if (!end && index + 1 >= turnLimit) end = { kind: "truncated", limit: "turns", at: index + 1 };
    }
  } catch (thrown) {
    if (!(thrown instanceof EnvironmentFailure)) throw thrown;
    end = { kind: "failed", boundary: "environment", message: thrown.message };
  } finally {
    const opened = episode;
    // a failing close must not fail a finished episode; an environment that opened after the time limit must be closed too
    if (opened) await watch("close()", async () => opened.close?.()).catch(() => undefined);
    else
      void Promise.resolve(starting)
        .then((late) => late?.close?.())
        .catch(() => undefined);
  }

  const ended = present(end, "playEpisode", "ending");
  if (lines.size === 0) {
    const role = environment.roles[0] ?? "agent";
    return [trajectoryOf(options, role, undefined, ended)];
  }
  return [...lines].map(([role, line]) => trajectoryOf(options, role, line, ended));
}

function trajectoryOf(
  options: EpisodeOptions,
  role: Role,
  line: RoleState | undefined,
  end: Ending,
): Trajectory {
  const { from, id, task } = options;
  const follows = from && role === from.trajectory.role;
  return {
    id: `${id}/${role}`,
    task: task.id,
    episode: id,
    role,
    turns: line?.turns ?? [],
    end,
    origin: line?.actor.kind === "player" ? "demonstrated" : "sampled",
    ...(follows ? { lineage: { parent: from.trajectory.id, turn: from.turn, why: from.why } } : {}),
  };
}

function adviceMessages(advice: string | readonly Message[] = []): readonly Message[] {
  return typeof advice === "string" ? [{ role: "user", content: advice }] : advice;
}

/** The action's tokens with the text of each, where a model sampled it. */
function sampledAction({ tokens }: Turn, actor: Actor): Pick<Action, "sampled"> {
  if (!tokens || actor.kind !== "model") return {};
  return { sampled: { tokens, pieces: () => tokenTexts(actor.codec, tokens.action) } };
}

/** Clears the conversation: the next observation contains all of it. */
function clearConversation(line: RoleState): void {
  line.conversation.length = 0;
  line.sequence = undefined;
  line.fresh = [];
}

/** Applies an artefact to the conversation, before anything is sampled, so that the sequence stays append-only. */
function applyArtefactTo(line: RoleState, artefact: Artefact | undefined): void {
  if (!artefact || line.actor.kind === "player" || line.actor.id !== "policy") return;
  const { messages, shown } = applyArtefact(artefact, line.conversation);
  line.conversation.splice(0, line.conversation.length, ...messages);
  line.shown = shown;
}

/** Adds the actor to a turn: its model, and the artefact in its prompt. */
function withArtefact(turn: Turn, { actor, shown }: RoleState, artefact: Artefact | undefined): Turn {
  if (!artefact || actor.kind === "player" || actor.id !== "policy") return turn;
  return {
    ...turn,
    version: `${turn.version}+${artefactId(artefact)}`,
    ...(shown.length > 0 ? { shown } : {}),
  };
}

function appendMessages(line: RoleState, messages: readonly Message[]): void {
  line.conversation.push(...messages);
  line.fresh.push(...messages);
}

/** Tokens of the whole prompt of the next action. */
function promptOf(line: RoleState, codec: Codec): Int32Array {
  if (!line.sequence) return codec.open(line.conversation);
  return concatIds([line.sequence, codec.extend(line.stop, line.fresh)]);
}

/** Replays a recorded turn. */
function replayTurn(line: RoleState, recorded: Turn): Turn {
  line.conversation.splice(0, line.conversation.length, ...recorded.prompt);
  return recorded;
}

function recordTurn(line: RoleState, turn: Turn, step: Step): void {
  line.turns.push({
    ...turn,
    rewards: step.rewards ?? turn.rewards,
    ...(step.text === undefined ? {} : { text: step.text }),
  });
  line.conversation.push(turn.action);
  line.sequence = turn.tokens ? concatIds([turn.tokens.prompt, turn.tokens.action]) : undefined;
  line.stop = turn.stop;
  line.fresh = [];
}

async function act(
  options: EpisodeOptions,
  line: RoleState,
  role: Role,
  observation: Observation,
  index: number,
): Promise<Turn | { readonly end: Ending }> {
  const { environment, random, task, temperature } = options;
  const { actor } = line;
  const messages = [...line.conversation];
  const { stateKey } = observation;
  const began = performance.now();
  if (actor.kind === "player") {
    const content = scripted(actor.player, task, messages, random.split("turn", index));
    const prompt = actor.codec && promptOf(line, actor.codec);
    const action = actor.codec && concatIds([actor.codec.encode(content), Int32Array.of(actor.codec.endId)]);
    const tooLong =
      prompt && action && prompt.length + action.length > (actor.contextTokens ?? Number.POSITIVE_INFINITY);
    if (tooLong) return { end: { kind: "truncated", limit: "tokens", at: prompt.length } };
    const unknown = new Float32Array(action?.length ?? 0).fill(Number.NaN);
    return {
      role,
      model: actor.id,
      version: "script",
      prompt: messages,
      action: { role: "assistant", content },
      ...(prompt && action ? { tokens: { prompt, action, logp: unknown, behaviour: unknown } } : {}),
      spans: {},
      stop: "eos",
      rewards: {},
      ...(stateKey === undefined ? {} : { stateKey }),
      ms: performance.now() - began,
    };
  }
  if (actor.kind === "chat") {
    const tools = messages.findLast((m) => m.tools)?.tools ?? environment.tools;
    const asked: ChatRequest = {
      messages,
      temperature: temperature ?? 1,
      seed: random.split("turn", index).seed,
      ...(tools ? { tools } : {}),
      ...(observation.maxTokens === undefined ? {} : { maxTokens: observation.maxTokens }),
      ...(observation.stop === undefined ? {} : { stop: observation.stop }),
    };
    const reply = await actor.chat.reply(asked).catch((e: unknown): Ending => {
      // a failing provider fails the episode, not the run
      if (!isWhetstoneError(e) || e.code !== "chat.failed") throw e;
      return { kind: "failed", boundary: "model", message: e.message };
    });
    if ("kind" in reply) return { end: reply };
    return {
      role,
      model: actor.id,
      version: actor.chat.id,
      prompt: messages,
      action: reply.message,
      spans: {},
      stop: reply.stop,
      rewards: {},
      ...(stateKey === undefined ? {} : { stateKey }),
      ms: performance.now() - began,
    };
  }
  let prompt: Int32Array;
  try {
    prompt = promptOf(line, actor.codec);
  } catch (e) {
    // an environment that writes whole conversations may write one that the model cannot encode
    if (observation.whole === undefined || !isWhetstoneError(e)) throw e;
    return { end: { kind: "failed", boundary: "environment", message: e.message } };
  }
  const room = actor.contextTokens - prompt.length;
  if (room < 1) return { end: { kind: "truncated", limit: "tokens", at: prompt.length } };
  const [sample] = await actor.sample([
    {
      prompt,
      maxTokens: Math.min(
        room,
        options.limits?.actionTokens ?? environment.limits.actionTokens,
        observation.maxTokens ?? Number.POSITIVE_INFINITY,
      ),
      ...(temperature === undefined ? {} : { temperature }),
      ...(observation.stop === undefined ? {} : { stop: observation.stop }),
      ...(options.constrained && observation.legal
        ? { choices: choicesOf(observation.legal, actor.codec) }
        : {}),
      seed: random.split("turn", index).seed,
      ...(options.draw && index === 0 ? { draw: options.draw } : {}),
    },
  ]);
  return sampledTurn({
    model: actor,
    role,
    prompt,
    messages,
    sample: present(sample, "playEpisode", "sample from the model"),
    stateKey,
    ms: performance.now() - began,
  });
}

/** Encodes each text as a complete reply with its end, so that one text may be a prefix of another. */
const choicesOf = (texts: readonly string[], codec: Codec): Int32Array[] =>
  texts.map((text) => concatIds([codec.encode(text), Int32Array.of(codec.endId)]));

/** Calls a scripted player. It belongs to the environment, so its errors are environment failures. */
function scripted(player: Player, task: Task, conversation: readonly Message[], random: Random): string {
  try {
    return player(task, conversation, random);
  } catch (thrown) {
    throw new EnvironmentFailure(`the scripted player threw: ${messageOf(thrown)}`);
  }
}

class EnvironmentFailure extends Error {}

/** Runs environment calls within a shared wall-clock budget; throws only {@link EnvironmentFailure}. */
function environmentWatch(seconds: number): <T>(name: string, call: () => Promise<T>) => Promise<T> {
  let left = seconds * 1000;
  return async (name, call) => {
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const give = (): void => reject(new EnvironmentFailure(`${name} took longer than ${seconds} s`));
      timer = setTimeout(give, Math.max(0, left));
    });
    try {
      return await Promise.race([Promise.resolve().then(call), late]);
    } catch (thrown) {
      if (thrown instanceof EnvironmentFailure || endsRun(thrown)) throw thrown;
      const why = messageOf(thrown);
      throw new EnvironmentFailure(why.startsWith(name) ? why : `${name} threw: ${why}`);
    } finally {
      clearTimeout(timer);
      left -= performance.now() - began;
    }
  };
}
