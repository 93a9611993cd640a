import type { Message, Trajectory } from "../../core/words.ts";
import type { StoredTrajectory } from "../../store/store.ts";

/**
 * An episode with the fields of Minari's `EpisodeBuffer`, as JSON: T actions between T + 1 observations, both texts
 * (spaces of kind Text), with T rewards, terminations and truncations. An observation is what was said since the action
 * before; the last one is what the environment said of the last action, or empty. Rewards of one action are added up, and
 * stand by name in `infos`. Minari's own files are HDF5 or Arrow, which its `create_dataset_from_buffers` writes from these.
 */
export function minariEpisode({ trajectory, iteration }: StoredTrajectory) {
  const { turns, end } = trajectory;
  const last = turns.length - 1;
  return {
    id: trajectory.id,
    seed: null,
    options: { task: trajectory.task, role: trajectory.role, iteration },
    observations: [...turns.map((_, i) => textOf(heardBefore(trajectory, i))), turns[last]?.text ?? ""],
    actions: turns.map(({ action }) => textOf([action])),
    rewards: turns.map(({ rewards }) => Object.values(rewards).reduce((sum, r) => sum + r, 0)),
    terminations: turns.map((_, i) => i === last && end.kind === "done"),
    truncations: turns.map((_, i) => i === last && end.kind !== "done"),
    infos: { rewards: turns.map(({ rewards }) => rewards), end },
  };
}

/** The messages of a prompt that the agent had not seen when it acted before. */
function heardBefore({ turns }: Trajectory, i: number): readonly Message[] {
  const { prompt } = turns[i]!;
  const before = turns[i - 1];
  return before && prompt.length > before.prompt.length ? prompt.slice(before.prompt.length + 1) : prompt;
}

/** Words, then calls of tools as JSON, a line each. */
const textOf = (messages: readonly Message[]): string =>
  messages
    .flatMap(({ content, toolCalls = [] }) => [
      ...(content === "" ? [] : [content]),
      ...toolCalls.map(({ name, arguments: given }) => JSON.stringify({ name, arguments: given })),
    ])
    .join("\n");
