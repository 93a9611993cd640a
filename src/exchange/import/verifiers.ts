import { toolOf } from "../../common/text/chatWire.ts";
import { withTools } from "../../common/text/systemMessage.ts";
import { type Json, listOf, numberOf, objectOf, textOf } from "../../core/json.ts";
import type { Target } from "../../core/served.ts";
import type { Id, Message } from "../../core/types.ts";
import { type Entry, feedback, type Importer, ignored } from "./entry.ts";
import { type Fields, messageIn, timeOf } from "./given.ts";
import { invalid } from "./records.ts";

/**
 * Episodes of verifiers, as in its `traces.jsonl`, or single traces (`Trace`, version 1): a graph of messages, each with
 * its parent. A trace becomes a session, and every sampled message a response to the messages on its path. Each reward (score
 * times weight) is about the whole session, or about the replies that our own export names. A failed trace, or one without
 * sampled messages, is skipped and counted, since its rewards mean nothing. Tokens are dropped, since they belong to the
 * model that wrote them.
 */
export function verifiers(file: string): Importer {
  function entriesOf(trace: Fields, line: number): readonly Entry[] {
    const wrong = (got: string, expected: string) => invalid(file, line, got, expected);
    const id = textOf(trace.id);
    if (id === undefined || !Array.isArray(trace.nodes))
      throw wrong("no id or no nodes", "a trace or an episode of verifiers");
    if (trace.version !== undefined && trace.version !== 1)
      throw wrong(`version ${JSON.stringify(trace.version)}`, "version 1");
    if (trace.ok === false || listOf(trace.errors).length > 0) return ignored("trace that failed");
    const nodes = trace.nodes.map((node) => objectOf(node) ?? {});
    const messages = nodes.map(({ message }, n) => {
      if (objectOf(message) === undefined)
        throw wrong(`node ${n} without a message`, "a message in every node");
      return messageIn(nested(message ?? null));
    });
    const parents = nodes.map(({ parent }, n) => {
      if (parent === null || parent === undefined) return undefined;
      const at = numberOf(parent);
      if (at !== undefined && Number.isInteger(at) && at >= 0 && at < n) return at;
      throw wrong(`node ${n} whose parent is ${JSON.stringify(parent)}`, "an earlier node, or null");
    });
    const session = `verifiers:${id}`;
    const began = timeOf(objectOf(trace.timing)?.start) ?? 0;
    const calls = new Map(
      listOf(trace.calls).map((call) => [numberOf(objectOf(call)?.node), objectOf(call)]),
    );
    const replies = nodes.flatMap((node, n): readonly Entry[] => {
      if (node.sampled !== true) return [];
      const path = pathTo(parents, n);
      const root = nodes[path[0] ?? n];
      const tools = listOf(root?.tools ?? trace.tools).flatMap((tool) =>
        toolOf({ type: "function", function: tool }),
      );
      const prompt: readonly Message[] = path.map((at) => messages[at]!);
      const call = calls.get(n);
      const stop = call?.finish_reason === "length" ? "length" : "eos";
      return [
        {
          kind: "response",
          draft: {
            id: `${session}/${n}`,
            session,
            // one millisecond apart, so that their order is known
            at: began + n,
            ms: 0,
            model: textOf(call?.model) ?? "",
            settings: {},
            prompt: withTools(prompt, tools),
            choices: [{ message: { ...messages[n]!, role: "assistant" }, stop }],
            status: "complete",
            tags: {},
          },
        },
      ];
    });
    return replies.length === 0
      ? ignored("trace without a reply")
      : [...replies, ...rewardsOf(trace, session, began + nodes.length)];
  }
  return {
    entries({ value, line }) {
      const given = objectOf(value) ?? {};
      // an episode: one trace per agent
      if (!Array.isArray(given.traces)) return entriesOf(given, line);
      if (given.traces.length === 0) return ignored("episode without a trace");
      return given.traces.flatMap((trace) => entriesOf(objectOf(trace) ?? {}, line));
    },
  };
}

/** Indices of the messages before one, from its root. */
function pathTo(parents: readonly (number | undefined)[], n: number): readonly number[] {
  const path: number[] = [];
  for (let at = parents[n]; at !== undefined; at = parents[at]) path.unshift(at);
  return path;
}

function rewardsOf({ rewards, info, nodes }: Fields, session: Id, at: number): readonly Entry[] {
  return Object.entries(objectOf(rewards) ?? {}).flatMap(([name, reward]) => {
    const given = objectOf(reward);
    const score = numberOf(given?.score);
    if (score === undefined) return [];
    const value = score * (numberOf(given?.weight) ?? 1);
    const parts = Object.entries(objectOf(objectOf(info)?.rewards_by_node) ?? {}).flatMap(([node, paid]) => {
      const part = numberOf(objectOf(paid)?.[name]);
      const isReply = objectOf(listOf(nodes)[Number(node)])?.sampled === true;
      return part !== undefined && isReply ? [{ response: `${session}/${node}`, value: part }] : [];
    });
    const entry = (id: Id, about: Target, worth: number): Entry =>
      feedback({ id, kind: "reward", channel: name, about: [about], at, source: "verifiers", value: worth });
    // a tool that scores a trace again leaves `info` as it was
    const sum = parts.reduce((total, part) => total + part.value, 0);
    return parts.length > 0 && Math.abs(sum - value) <= 1e-6 * Math.max(1, Math.abs(value))
      ? parts.map((part) => entry(`${part.response}/${name}`, { response: part.response }, part.value))
      : [entry(`${session}/${name}`, { session }, value)];
  });
}

/** Nests tool calls as OpenAI does: verifiers puts name and arguments beside the id. */
function nested(message: Json): Json {
  const object = objectOf(message);
  if (!object || !Array.isArray(object.tool_calls)) return message;
  const calls = object.tool_calls.map((call): Json => {
    const { id = "", name = "", arguments: given = "" } = objectOf(call) ?? {};
    return { id, type: "function", function: { name, arguments: given } };
  });
  return { ...object, tool_calls: calls };
}
