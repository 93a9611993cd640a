import { paid, succeeded } from "../../core/types.ts";
import type { StoredTrajectory } from "../../store/runStore.ts";
import { hfConversation } from "../export/messages.ts";

/**
 * The conversation at the agent's last action, in the form of Hugging Face's chat templates and TRL, with its rewards
 * `{messages, tools?, reward, success}` and its ids `{id, task, episode, role}`.
 */
export function hfRow({ run, trajectory }: StoredTrajectory) {
  const last = trajectory.turns.at(-1);
  return {
    ...hfConversation(last ? [...last.prompt, last.action] : []),
    id: `${run}/${trajectory.id}`,
    task: trajectory.task,
    episode: trajectory.episode,
    role: trajectory.role,
    reward: paid(trajectory),
    success: succeeded(trajectory),
  };
}
