import { paid, succeeded } from "../../core/types.ts";
import type { StoredTrajectory } from "../../store/store.ts";
import { hfConversation } from "../export/messages.ts";

/**
 * A conversation as it stood when the agent acted last, as Hugging Face's chat templates and TRL read it, with what it was
 * worth: `{messages, tools?, reward, success}`, and whose it is: `{id, task, episode, role}`.
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
