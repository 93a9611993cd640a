/** Plays an environment with given actions, for its tests. */
import { type Random, randomStream } from "../../src/core/random.ts";
import type { Ending, Message, Task, Trajectory, Turn } from "../../src/core/types.ts";
import type { Environment, Player } from "../../src/env/environment.ts";
import { scriptActor } from "../../src/rollout/actor.ts";
import { playEpisode } from "../../src/rollout/episode.ts";

export interface Played {
  readonly conversation: readonly Message[];
  readonly actions: readonly string[];
  readonly texts: readonly string[];
  readonly stateKeys: readonly (string | undefined)[];
  readonly outcome: number | undefined;
  readonly end: Ending;
}

export async function play(
  environment: Environment,
  task: Task,
  player: Player,
  random: Random = randomStream(task.seed),
): Promise<Played> {
  const episode = await environment.start(task, random.split("environment"));
  const conversation: Message[] = [...task.prompt];
  const actions: string[] = [];
  const texts: string[] = [];
  const stateKeys: (string | undefined)[] = [];
  for (;;) {
    const { observation } = await episode.observe();
    conversation.push(...observation.messages);
    stateKeys.push(observation.stateKey);
    const content = player(task, conversation, random);
    conversation.push({ role: "assistant", content });
    actions.push(content);
    const step = await episode.act({ content, stop: "eos" });
    if (step.text !== undefined) texts.push(step.text);
    if (step.end) {
      return { conversation, actions, texts, stateKeys, outcome: step.rewards?.outcome, end: step.end };
    }
    if (actions.length > 100) throw new Error(`${task.id} does not end`);
  }
}

export const isSuccess = (played: Played): boolean =>
  played.end.kind === "done" && played.end.success === true;

/** The trajectory of an episode that a scripted player plays. */
export async function playedBy(
  environment: Environment,
  task: Task,
  player: Player,
  random: Random = randomStream(task.id),
): Promise<Trajectory> {
  const actor = () => scriptActor("policy", player);
  return (await playEpisode({ environment, task, id: task.id, actor, random }))[0]!;
}

/** The trajectory of these actions. */
export function trajectoryOf(
  task: Task,
  actions: readonly string[],
  end: Ending,
  outcome?: number,
): Trajectory {
  const turns = actions.map(
    (content, index): Turn => ({
      role: "agent",
      model: "policy",
      version: "0",
      prompt: [],
      action: { role: "assistant", content },
      spans: {},
      stop: "eos",
      rewards: outcome !== undefined && index === actions.length - 1 ? { outcome } : {},
      ms: 0,
    }),
  );
  return { id: "t", task: task.id, episode: "e", role: "agent", turns, end, origin: "sampled" };
}
