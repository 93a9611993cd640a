import type { Message } from "../../core/types.ts";
import type { StoredTrajectory } from "../../store/runStore.ts";
import { continues } from "./continues.ts";

/**
 * An episode with the fields of Minari's `EpisodeBuffer`, as JSON: T actions between T + 1 observations, both texts
 * (spaces of kind Text), with T rewards, terminations and truncations. An observation is the text since the previous action;
 * the last one is the environment's answer to the last action, or empty. Rewards of one action are summed; `infos` has them
 * by name as JSON text, because Minari requires the same fields in every episode. Minari numbers episodes itself, so other
 * data of an episode is in `options`, flat, as its HDF5 files require. Minari's own files are HDF5 or Arrow; its
 * `create_dataset_from_buffers` writes them from these.
 */
export function minariEpisode({ run, phase, iteration, trajectory }: StoredTrajectory) {
  const { turns, end, task, role, episode } = trajectory;
  const last = turns.length - 1;
  return {
    id: null,
    seed: null,
    options: { id: `${run}/${trajectory.id}`, run, iteration, phase, task, episode, role, ...endOf(end) },
    observations: [
      ...turns.map((turn, i) => {
        const before = turns[i - 1];
        const known = before && continues(before, turn) ? before.prompt.length + 1 : 0;
        return textOf(turn.prompt.slice(known));
      }),
      turns[last]?.text ?? "",
    ],
    actions: turns.map(({ action }) => textOf([action])),
    rewards: turns.map(({ rewards }) => Object.values(rewards).reduce((sum, r) => sum + r, 0)),
    terminations: turns.map((_, i) => i === last && end.kind === "done"),
    truncations: turns.map((_, i) => i === last && end.kind !== "done"),
    infos: { rewards: ["{}", ...turns.map(({ rewards }) => JSON.stringify(rewards))] },
  };
}

function endOf(end: StoredTrajectory["trajectory"]["end"]) {
  switch (end.kind) {
    case "done":
      return {
        end: end.kind,
        reason: end.reason,
        ...(end.success === undefined ? {} : { success: end.success }),
      };
    case "truncated":
      return { end: end.kind, reason: end.limit };
    case "failed":
      return { end: end.kind, reason: `${end.boundary}: ${end.message}` };
  }
}

/** Text, then tool calls as JSON, one per line. */
const textOf = (messages: readonly Message[]): string =>
  messages
    .flatMap(({ content, toolCalls = [] }) => [
      ...(content === "" ? [] : [content]),
      ...toolCalls.map(({ name, arguments: given }) => JSON.stringify({ name, arguments: given })),
    ])
    .join("\n");
