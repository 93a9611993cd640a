/** Plays one episode. Every rollout, evaluation and demonstration uses it. */
import { tokenTexts } from "../common/tokens/turns.ts";
import type { Advise } from "../core/context.ts";
import type { Draw } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { Ending, Id, Message, Role, Task, Trajectory } from "../core/types.ts";
import { requireEpisode, requireStep, requireTurn } from "../env/contract.ts";
import type { Action, Environment, Episode, Observation, Step } from "../env/environment.ts";
import type { Actor } from "./actor.ts";
import { EnvironmentFailure, type EnvironmentWatch, environmentWatch } from "./environmentWatch.ts";
import {
  addRewards,
  appendMessages,
  newRole,
  openConversation,
  promptTokens,
  type RoleState,
  recordTurn,
  replaceConversation,
  replayTurn,
  type TurnMade,
  turnsOf,
} from "./roleState.ts";

/** Settings of {@link playEpisode}: the task, who acts in it, and what they are advised. */
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
  /** Samples every action among the most probable tokens that together reach this value. For measuring and serving, not for training. */
  readonly topP?: number;
  /** Where an observation lists legal actions, sampling is restricted to them. */
  readonly constrained?: boolean;
  /** Advice for the acting role before its first own action: the text of a separate user message, or messages. */
  readonly advice?: string | readonly Message[];
  /** Returns advice for the acting role before each own action. */
  readonly advise?: Advise;
  /** Replays the turns before `turn` of this trajectory, with their recorded tokens, then continues. */
  readonly from?: {
    readonly trajectory: Trajectory;
    readonly turn: number;
    readonly why: "retry" | "branch";
  };
  /** Limits below the environment's own. `turns` counts the actions of all roles. */
  readonly limits?: { readonly turns?: number; readonly actionTokens?: number; readonly seconds?: number };
}

/**
 * Plays one episode to its end. The conversation of each role is one append-only token sequence: first `codec.open` of the
 * task's prompt and the observation, then the sampled tokens, then `codec.extend`; action tokens are never re-tokenised.
 * The turns of a role share its conversation and its sequence, so that an episode takes memory for what each turn adds.
 *
 * An environment that throws, or exceeds its limit in seconds, ends the episode as `failed`. Only the environment's own time
 * counts, so that a slow model changes no result. Errors of a model are rethrown.
 * @returns one trajectory per role that acted, in the order of their first actions; one without turns if none did.
 */
export async function playEpisode(options: EpisodeOptions): Promise<readonly Trajectory[]> {
  const { environment, task } = options;
  const watch = environmentWatch(options.limits?.seconds ?? environment.limits.seconds ?? 60);
  const roles = new Map<Role, RoleState>();
  let starting: Promise<Episode> | undefined;
  let episode: Episode | undefined;
  let end: Ending;
  try {
    const begin = async (): Promise<Episode> =>
      requireEpisode(await (starting = environment.start(task, options.random.split("environment"))));
    episode = await watch("start()", begin);
    end = await playTurns(options, episode, watch, roles);
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
  if (roles.size === 0) return [trajectoryOf(options, environment.roles[0] ?? "agent", undefined, end)];
  return [...roles].map(([role, state]) => trajectoryOf(options, role, state, end));
}

/** Plays all turns, and keeps them in `roles`, also where it throws. @returns how the episode ended. */
async function playTurns(
  options: EpisodeOptions,
  episode: Episode,
  watch: EnvironmentWatch,
  roles: Map<Role, RoleState>,
): Promise<Ending> {
  const { environment, task, from } = options;
  const turnLimit = options.limits?.turns ?? environment.limits.turns;
  let advised = options.advice === undefined;
  for (let index = 0; ; index++) {
    const { role, observation } = await watch("observe()", async () =>
      requireTurn(await episode.observe(), environment),
    );
    const state = roles.get(role) ?? newRole(role, options.actor(role), task.prompt);
    roles.set(role, state);
    if (observation.whole) replaceConversation(state, observation.messages);
    else appendMessages(state, observation.messages);

    const follows = from !== undefined && role === from.trajectory.role;
    const turn = state.turns.length;
    const replayed = follows && turn < from.turn ? from.trajectory.turns[turn] : undefined;
    if (!replayed) {
      if (!advised && (!from || follows)) {
        appendMessages(state, adviceMessages(options.advice));
        advised = true;
      }
      await appendAdvice(options, state, observation);
      if (turn === 0 || observation.whole) openConversation(state);
    }
    const made = replayed ? replayTurn(state, replayed) : await actionOf(options, state, observation, index);
    if ("end" in made) return made.end;

    const acted = async (): Promise<Step> => requireStep(await episode.act(actionFor(made, state.actor)));
    const step = await watch("act()", acted).catch((thrown: unknown) => {
      recordTurn(state, made, {});
      throw thrown;
    });
    recordTurn(state, made, step);
    for (const [other, rewards] of Object.entries(step.otherRewards ?? {}))
      addRewards(roles.get(other), rewards);
    if (step.end) return step.end;
    if (index + 1 >= turnLimit) return { kind: "truncated", limit: "turns", at: index + 1 };
  }
}

function trajectoryOf(
  { from, id, task }: EpisodeOptions,
  role: Role,
  state: RoleState | undefined,
  end: Ending,
): Trajectory {
  const follows = from && role === from.trajectory.role;
  return {
    id: `${id}/${role}`,
    task: task.id,
    episode: id,
    role,
    turns: state ? turnsOf(state) : [],
    end,
    origin: state?.actor.origin ?? "sampled",
    ...(follows ? { lineage: { parent: from.trajectory.id, turn: from.turn, why: from.why } } : {}),
  };
}

const adviceMessages = (advice: string | readonly Message[] = []): readonly Message[] =>
  typeof advice === "string" ? [{ role: "user", content: advice }] : advice;

/** Asks for advice on the next action. */
async function appendAdvice(
  { advise, task }: EpisodeOptions,
  state: RoleState,
  { messages, stateKey }: Observation,
): Promise<void> {
  if (!advise) return;
  const turn = state.turns.length;
  const seen = { role: state.role, turn, messages: turn === 0 ? [...task.prompt, ...messages] : messages };
  appendMessages(state, await advise({ ...seen, ...(stateKey === undefined ? {} : { stateKey }) }));
}

/** A turn as the environment gets it: with tokens and the text of each, where a model sampled it. */
function actionFor({ action, stop, tokens }: TurnMade, { codec }: Actor): Action {
  const { content, toolCalls } = action;
  return {
    content,
    stop,
    ...(toolCalls ? { toolCalls } : {}),
    ...(tokens && codec ? { sampled: { tokens, pieces: () => tokenTexts(codec, tokens.action) } } : {}),
  };
}

/** Asks the actor for the next action. */
async function actionOf(
  options: EpisodeOptions,
  state: RoleState,
  observation: Observation,
  index: number,
): Promise<TurnMade | { readonly end: Ending }> {
  const { environment, task, temperature, topP, constrained, limits, draw } = options;
  const { role, actor, shown } = state;
  const began = performance.now();
  const acted = await actor.act({
    environment,
    task,
    messages: [...state.said],
    observation,
    promptTokens: (codec) => promptTokens(state, codec),
    random: options.random.split("turn", index),
    temperature,
    topP,
    constrained,
    actionTokens: limits?.actionTokens,
    draw: index === 0 ? draw : undefined,
  });
  if ("end" in acted) return acted;
  const { stateKey } = observation;
  return {
    role,
    model: actor.id,
    ...acted,
    spans: {},
    rewards: {},
    ...(shown.length > 0 ? { shown } : {}),
    ...(stateKey === undefined ? {} : { stateKey }),
    ms: performance.now() - began,
  };
}
