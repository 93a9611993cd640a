import { WhetstoneError } from "../../../core/errors.ts";
import type { Json } from "../../../core/json.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Task, Turn } from "../../../core/types.ts";
import { assigned, transported } from "./assignment.ts";

/** Settings of {@link toolMatching}. */
export interface ToolMatchingOptions {
  /**
   * "hard": each reference counts for one call. "soft": calls are matched to references by optimal transport, and rewards
   * sum to 1 at most. "best": each call counts by its most similar reference, repeated calls too. Default "hard".
   */
  readonly assignment?: "hard" | "soft" | "best";
  /** Reward of an unmatched call at "hard". Default 0. */
  readonly unmatched?: number;
  /** Entropic regularisation of "soft". Default 0.1. */
  readonly regularisation?: number;
  /** Field of a task's metadata with the right calls, each `{ name, arguments }`. Default "calls". */
  readonly reference?: string;
  /** Default "match". */
  readonly channel?: string;
}

/**
 * Rewards each turn's tool calls by their similarity to the task's reference calls, matched over the whole trajectory:
 *
 *     S(p, g) = (1 + |keys_p ∩ keys_g| / |keys_p ∪ keys_g| + #{k: p[k] = g[k]}) / (2 + |keys_g|),  0 if the names differ
 *     reward of a call = S of the reference that it is matched with    (or Σ_g T[p, g] S(p, g))
 *     reward of a turn = mean over its calls
 *
 * Calls are the turn's tool calls, or its lines `call NAME KEY=VALUE …`. A turn without calls gets no reward; neither
 * does a failed episode.
 * Paper: "MatchTIR: Fine-Grained Supervision for Tool-Integrated Reasoning via Bipartite Matching".
 */
export function toolMatching(options: ToolMatchingOptions = {}): Feedback {
  const { reference = "calls", channel = "match" } = options;
  return async (ctx, { trajectories }) =>
    trajectories.flatMap((t) => {
      if (t.end.kind === "failed") return [];
      const wanted = referenceCalls(ctx.task(t.task), reference);
      const made = t.turns.map(callsIn);
      const rewards = matched(
        made.flat().map((p) => wanted.map((g) => similarity(p, g))),
        options,
      );
      let at = 0;
      return made.flatMap((calls, turn): Signal[] => {
        const own = rewards.slice(at, at + calls.length);
        at += calls.length;
        if (own.length === 0) return [];
        const value = own.reduce((sum, x) => sum + x / own.length, 0);
        return [
          { kind: "reward", channel, about: [{ trajectory: t.id, turn }], value, source: "tool matching" },
        ];
      });
    });
}

/** A call with its arguments as texts: equal texts are equal values. */
interface Call {
  readonly name: string;
  readonly arguments: ReadonlyMap<string, string>;
}

/** One reward per call. */
function matched(S: readonly (readonly number[])[], options: ToolMatchingOptions): number[] {
  const { assignment = "hard", unmatched = 0, regularisation = 0.1 } = options;
  switch (assignment) {
    case "hard": {
      const column = assigned(S);
      return S.map((of, p) => of[column[p]!] ?? unmatched);
    }
    case "soft": {
      const plan = transported(S, regularisation);
      return S.map((of, p) => of.reduce((sum, s, g) => sum + plan[p]![g]! * s, 0));
    }
    case "best":
      return S.map((of) => Math.max(0, ...of));
  }
}

function similarity(p: Call, g: Call): number {
  if (p.name !== g.name) return 0;
  const union = new Set([...p.arguments.keys(), ...g.arguments.keys()]).size;
  let shared = 0;
  let equal = 0;
  for (const [key, value] of g.arguments) {
    if (!p.arguments.has(key)) continue;
    shared++;
    if (p.arguments.get(key) === value) equal++;
  }
  return (1 + (union === 0 ? 1 : shared / union) + equal) / (2 + g.arguments.size);
}

function callsIn({ action }: Turn): Call[] {
  if (action.toolCalls)
    return action.toolCalls.map((c) => ({ name: c.name, arguments: fieldsOf(c.arguments) }));
  return action.content.split("\n").flatMap((line) => {
    const [word, name, ...pairs] = line.trim().split(/\s+/);
    if (word !== "call" || name === undefined) return [];
    const fields = pairs.flatMap((pair): [string, string][] => {
      const [key, ...value] = pair.split("=");
      return value.length > 0 ? [[key!, value.join("=")]] : [];
    });
    return [{ name, arguments: new Map(fields) }];
  });
}

/** The fields of a JSON object; no fields for any other value. */
function fieldsOf(json: string): Map<string, string> {
  try {
    return asTexts(JSON.parse(json));
  } catch {
    return new Map();
  }
}

function asTexts(fields: Json): Map<string, string> {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return new Map();
  return new Map(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
}

function referenceCalls(task: Task, field: string): Call[] {
  const listed = task.metadata[field];
  const calls = (Array.isArray(listed) ? listed : []).flatMap((call: Json): Call[] => {
    if (typeof call !== "object" || call === null || Array.isArray(call)) return [];
    const { name, arguments: given = {} } = call as { readonly [key: string]: Json };
    return typeof name === "string" ? [{ name, arguments: asTexts(given) }] : [];
  });
  if (Array.isArray(listed) && calls.length === listed.length) return calls;
  throw new WhetstoneError("config.invalid", {
    where: "toolMatching",
    got: `task "${task.id}" without a list of calls in its metadata, ${field}`,
    expected: "a list of { name, arguments }",
    fix: "Choose an environment whose tasks list the right calls, or set `field` to the name of that list.",
  });
}
