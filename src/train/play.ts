/** How pieces play episodes: who acts in which role, from which random stream, counted and journalled. */
import type { Artefact } from "../core/artefact.ts";
import type { Play } from "../core/context.ts";
import type { Counter } from "../core/counter.ts";
import { WhetstoneError } from "../core/errors.ts";
import type { Frozen, Model } from "../core/model.ts";
import type { Random } from "../core/random.ts";
import type { ModelId, Trajectory } from "../core/types.ts";
import type { Player } from "../env/environment.ts";
import { type Actor, scriptActor, withArtefact } from "../rollout/actor.ts";
import { playEpisode } from "../rollout/episode.ts";
import { actorOf, tokenActor } from "./actor.ts";
import type { ContextParts, EpisodeBook } from "./contextParts.ts";
import { heldOutTask } from "./heldOut.ts";
import type { Lookups } from "./lookups.ts";

export interface PlayParts {
  readonly parts: ContextParts;
  readonly book: EpisodeBook;
  readonly lookups: Lookups;
  /** Of this iteration. */
  readonly random: Random;
  /** Artefact in the policy's prompts, unless a play names another. */
  readonly artefact: () => Artefact | undefined;
  readonly count: (counter: Counter, amount: number) => void;
}

export function playsOf({ parts, book, lookups, random, artefact: current, count }: PlayParts) {
  const { environment, state, models } = parts;
  const { made, started: begun } = book;
  const modelOf = (id: ModelId, mix: Play["mix"]): Actor => {
    const talking = models.get(id);
    if (talking?.chat) return actorOf(id, talking);
    const acting = models.get(id) ?? lookups.frozen(id);
    const mixed = mix && mixedWith(acting, lookups.frozen(mix.with), mix.share);
    return tokenActor(id, mixed ?? acting, lookups.model().contextTokens, parts.stop);
  };
  const playerActor = (player: Player): Actor => {
    const { chat, codec, contextTokens } = lookups.model();
    return scriptActor("policy", player, chat ? undefined : { codec, contextTokens });
  };

  const scripted = (name: "expert" | "flawed"): Player => {
    const found = environment[name];
    if (found) return found;
    throw new WhetstoneError("capability.missing", {
      where: `environment ${environment.name}`,
      got: `a method that learns from its ${name} player`,
      expected: "an environment with this player",
      fix: `Give the environment a scripted player ${name}, or choose a method without demonstrations.`,
    });
  };

  async function play({
    task: named,
    attempt,
    together = 1,
    models: chosen,
    mix,
    player: playing,
    program,
    from,
    advice,
    advise,
    artefact = current(),
    limits,
    temperature,
    constrained,
  }: Play): Promise<readonly Trajectory[]> {
    const task = typeof named === "string" ? lookups.task(named) : named;
    // a task by its id is one of training, or one that was looked at when it was made
    if (typeof named !== "string" && parts.heldOut?.has(task)) throw heldOutTask(`play of task "${task.id}"`);
    if (!parts.tasks.has(task.id)) made.set(task.id, task);
    const player = playing && scripted(playing);
    const name = program?.name ?? playing;
    const tag = name === undefined ? attempt : `${name} ${attempt}`;
    const id = `${state.iteration}/${task.id}/${tag}`;
    if (from && !environment.abilities.has("replay")) {
      throw new WhetstoneError("capability.missing", {
        where: `environment ${environment.name}`,
        got: "an episode that continues from a turn of another episode",
        expected: "an environment with the ability replay",
        fix: "Choose an environment that can replay, or a method that plays each episode from its start.",
      });
    }
    if (begun.has(id)) {
      throw new WhetstoneError("option.range", {
        where: `play of task "${task.id}"`,
        got: `attempt ${attempt} again in iteration ${state.iteration}`,
        expected: "one episode for each task and attempt of an iteration",
        fix: "Give every episode of a task its own attempt number, also where they differ in advice or from.",
      });
    }
    begun.add(id);
    // only episodes that start with the same prompt may share a draw: the environment depends on its task alone, and no attempt gets advice
    const alike = environment.abilities.has("replay") && !from && advice === undefined && !advise;
    const draw =
      alike && attempt < together && together > 1
        ? { seed: random.split("openings", task.id).seed, index: attempt, of: together }
        : undefined;
    const playNow = async (): Promise<readonly Trajectory[]> => {
      parts.stop.throwIfAborted();
      const finished = await playEpisode({
        environment,
        task,
        id,
        actor: (role) => {
          if (program) return scriptActor("policy", program.act);
          if (player) return playerActor(player);
          const name = chosen?.[role] ?? "policy";
          const acting = modelOf(name, mix);
          // the artefact is the policy's: opponents and frozen models act without it
          return name === "policy" && artefact && artefact !== "none"
            ? withArtefact(acting, artefact)
            : acting;
        },
        random: random.split("episode", task.id, tag),
        ...(draw === undefined ? {} : { draw }),
        ...(temperature === undefined ? {} : { temperature }),
        ...(constrained === undefined ? {} : { constrained }),
        ...(from === undefined ? {} : { from }),
        ...(advice === undefined ? {} : { advice }),
        ...(advise === undefined ? {} : { advise }),
        ...(limits === undefined ? {} : { limits }),
      });
      await parts.journal?.add(state.iteration, id, finished);
      return finished;
    };
    const played = parts.journal?.find(id) ?? (await parts.limit(playNow));
    if (playing && !program) count("demonstrations", 1);
    else countEpisode(played, from, count);
    return played;
  }

  return play;
}

/** A model that samples from a mixture of its own logits and those of a frozen model. */
function mixedWith(
  acting: Pick<Model, "codec" | "sample">,
  of: Frozen,
  share: number,
): Pick<Model, "codec" | "sample"> {
  return {
    codec: acting.codec,
    sample: (requests) => acting.sample(requests.map((request) => ({ ...request, mix: { of, share } }))),
  };
}

/** Replayed turns are steps of the environment, but no model made them again. */
export function countEpisode(
  played: readonly Trajectory[],
  from: Play["from"],
  count: (counter: Counter, amount: number) => void,
): void {
  count("episodes", 1);
  if (played.some((t) => t.end.kind === "failed")) count("episodes.failed", 1);
  for (const { role, turns } of played) {
    const replayed = from?.trajectory.role === role ? Math.min(from.turn, from.trajectory.turns.length) : 0;
    const sampled = turns.slice(replayed);
    count("turns", turns.length);
    count("environment.steps", turns.length);
    count("generations", sampled.length);
    for (const { tokens } of sampled) count("tokens.sampled", tokens?.action.length ?? 0);
  }
}
