import { keyOf, onlyOffers } from "../../common/text/toolCalls.ts";
import { continues as continuesTokens } from "../../common/tokens/sequence.ts";
import type { Message, Turn } from "../../core/types.ts";
import type { StoredTrajectory } from "../../store/runStore.ts";
import { continues } from "./continues.ts";

interface Node {
  readonly parent: number | null;
  readonly message: ReturnType<typeof messageOf>;
  readonly sampled: boolean;
  readonly token_ids?: readonly number[];
  readonly mask?: readonly boolean[];
  readonly logprobs?: readonly number[];
  readonly advantages?: readonly number[];
  readonly tools?: readonly object[];
}

/** An episode of verifiers with one trace per agent: a line of its `traces.jsonl`. */
export function verifiersEpisode(agents: readonly StoredTrajectory[]) {
  const [{ run, iteration, phase, episode, task, trajectory }] = agents as readonly [StoredTrajectory];
  const traces = agents.map(verifiersTrace);
  return {
    id: `${run}/${phase}/${iteration}/${episode}`,
    task: taskOf(task, trajectory.turns[0]),
    run: { type: "train", id: run, work: { type: phase === "train" ? "train" : "eval", step: iteration } },
    ok: traces.every(({ ok }) => ok),
    errors: [],
    traces,
  };
}

/**
 * A trajectory as a trace of verifiers (`Trace`, version 1): a graph in which each message stands once. A turn whose prompt
 * extends the previous turn, in messages and in tokens, is attached to that turn's reply; any other starts a new path. The
 * tokens that a turn's prompt adds are stored with its reply, masked out, before the sampled ones: along a path they are
 * exactly what the model read and wrote. `logprobs` are those of the sampling distribution. A trace has one sum per reward;
 * `info.rewards_by_node` has the reward of each reply.
 */
export function verifiersTrace({ run, trajectory, advantage, iteration, phase }: StoredTrajectory) {
  const { turns, end, task, role, origin } = trajectory;
  const nodes: Node[] = [];
  const calls: object[] = [];
  const rewards: Record<string, { readonly score: number; readonly weight: 1 }> = {};
  const byNode: Record<number, Turn["rewards"]> = {};
  let [at, reply]: [number, number | null] = [0, null];
  for (const [i, turn] of turns.entries()) {
    const before = turns[i - 1];
    const goesOn = before !== undefined && continuesExactly(before, turn);
    const from = goesOn ? before.prompt.length + 1 : 0;
    let parent: number | null = goesOn ? reply : null;
    const tools = turn.prompt.flatMap((message) => message.tools ?? []);
    for (const message of turn.prompt.slice(from)) {
      if (onlyOffers(message)) continue;
      const offered: Pick<Node, "tools"> = parent === null && tools.length > 0 ? { tools } : {};
      parent = nodes.push({ parent, message: messageOf(message), sampled: false, ...offered }) - 1;
    }
    const said = turn.tokens?.action.length ?? 0;
    const credit = advantage?.subarray(at, at + said);
    at += said;
    const tokens = tokensOf(turn, goesOn ? before : undefined);
    const credited = credit ? { advantages: [...credit].filter((_, t) => !turn.tokens?.forced?.[t]) } : {};
    reply =
      nodes.push({ parent, message: messageOf(turn.action), sampled: true, ...tokens, ...credited }) - 1;
    calls.push({ node: reply, model: `${turn.model}@${turn.version}`, finish_reason: finishOf(turn) });
    for (const [name, paid] of Object.entries(turn.rewards))
      rewards[name] = { score: (rewards[name]?.score ?? 0) + paid, weight: 1 };
    if (Object.keys(turn.rewards).length > 0) byNode[reply] = turn.rewards;
  }
  return {
    version: 1,
    id: `${run}/${trajectory.id}`,
    verifiers: { version: "0.4.0" },
    task: taskOf(task, turns[0]),
    agent: { config: {}, name: role, trainable: origin === "sampled" },
    tools: [...new Map(offeredIn(turns).map((tool) => [tool.name, tool])).values()],
    nodes,
    calls,
    rewards,
    info: { phase, iteration, episode: trajectory.episode, origin, rewards_by_node: byNode },
    is_completed: true,
    ok: end.kind !== "failed",
    is_timeout: end.kind === "truncated" && end.limit === "seconds",
    stop_condition:
      end.kind === "done" ? end.reason : end.kind === "truncated" ? `max_${end.limit}` : "error",
    errors: end.kind === "failed" ? [{ type: end.boundary, message: end.message }] : [],
  };
}

/** Roots have the tools offered at the beginning; a trace also has later ones. */
const offeredIn = (turns: readonly Turn[]) =>
  turns.flatMap(({ prompt }) => prompt.flatMap((message) => message.tools ?? []));

const taskOf = (id: string, first: Turn | undefined) => ({
  type: "Task",
  key: id,
  data: { id, prompt: (first?.prompt ?? []).filter((message) => !onlyOffers(message)).map(messageOf) },
});

/** Whether a turn extends the previous one by its exact tokens; without tokens, by its exact reply. */
function continuesExactly(before: Turn, turn: Turn): boolean {
  if (!continues(before, turn)) return false;
  if (!before.tokens && !turn.tokens)
    return keyOf(before.action) === keyOf(turn.prompt[before.prompt.length]!);
  if (!before.tokens || !turn.tokens) return false;
  return continuesTokens(before.tokens, turn.tokens);
}

/** What the turn adds to its path: the new part of its prompt, and the action. */
function tokensOf({ tokens }: Turn, before: Turn | undefined) {
  if (!tokens) return {};
  const known = before?.tokens ? before.tokens.prompt.length + before.tokens.action.length : 0;
  const read = [...tokens.prompt.subarray(known)];
  const forced = tokens.forced;
  const mask = Array.from(tokens.action, (_, i) => forced?.[i] !== 1);
  return {
    token_ids: [...read, ...tokens.action],
    mask: [...read.map(() => false), ...mask],
    logprobs: [...tokens.behaviour].filter((_, i) => mask[i]),
  };
}

function messageOf({ role, content, name, toolCalls, toolCallId }: Message) {
  if (role === "tool") return { role, content, tool_call_id: toolCallId ?? "", ...(name && { name }) };
  if (role !== "assistant" || !toolCalls) return { role, content };
  const tool_calls = toolCalls.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments }));
  return { role, content, tool_calls };
}

function finishOf({ stop, action }: Turn): "stop" | "length" | "tool_calls" {
  if (action.toolCalls?.length) return "tool_calls";
  return stop === "length" || stop === "cut" ? "length" : "stop";
}
