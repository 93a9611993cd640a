import { paid, succeeded } from "../../core/words.ts";
import type { StoredTrajectory } from "../../store/store.ts";
import { hfConversation } from "../export/messages.ts";

/** A conversation as Hugging Face's chat templates and TRL read it, with what it was worth: `{messages, tools?, reward, success, task}`. */
export function hfRow({ trajectory }: StoredTrajectory) {
  const last = trajectory.turns.at(-1);
  return {
    ...hfConversation(last ? [...last.prompt, last.action] : []),
    task: trajectory.task,
    reward: paid(trajectory),
    success: succeeded(trajectory),
  };
}
