/** A reply as what evaluators evaluate. */
import type { Attempt } from "../core/evaluator.ts";
import type { Candidate } from "../core/rubrics.ts";
import type { Message, Task, Trajectory } from "../core/types.ts";

/** A request with its reply, which is at the same time an attempt of one turn: evaluators of either take it. */
export type JudgedItem = Candidate & Attempt;

/** @param asked the request. @param id of the task and the trajectory. */
export function judgedItem(asked: string, reply: string, id: string): JudgedItem {
  const prompt: readonly Message[] = [{ role: "user", content: asked }];
  return {
    asked,
    reply,
    task: { id, prompt, metadata: {}, seed: 0 },
    trajectory: {
      id,
      task: id,
      episode: id,
      role: "agent",
      turns: [
        {
          role: "agent",
          model: "policy",
          version: "labelled",
          prompt,
          action: { role: "assistant", content: reply },
          spans: {},
          stop: "eos",
          rewards: {},
          ms: 0,
        },
      ],
      end: { kind: "done", reason: "labelled" },
      origin: "logged",
    },
  };
}

/**
 * A trajectory as an item: its last action is the reply, and the conversation before it what was asked. A conversation of one
 * message stands there as it is; in a longer one, each message begins with its role. Calls of tools are shown.
 * @returns undefined for a trajectory without an action.
 */
export function judgedTrajectory(task: Task, trajectory: Trajectory): JudgedItem | undefined {
  const last = trajectory.turns.at(-1);
  if (!last) return undefined;
  const [first, ...more] = last.prompt;
  const asked =
    first && more.length === 0
      ? shown(first)
      : last.prompt.map((message) => `${message.role}: ${shown(message)}`).join("\n");
  return { asked, reply: shown(last.action), task, trajectory };
}

const shown = ({ content, toolCalls = [] }: Message): string =>
  [
    ...(content === "" && toolCalls.length > 0 ? [] : [content]),
    ...toolCalls.map((call) => `calls ${call.name}(${call.arguments})`),
  ].join("\n");
