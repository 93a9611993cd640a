/** A user's intent, as slots with values: the hidden part of a task in which the agent has to ask. */
import { WhetstoneError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Task } from "../core/types.ts";

export interface Intent {
  /** Every slot with the values that it can have. */
  readonly slots: Readonly<Record<string, readonly string[]>>;
  /** The value of each slot that matters to this user; the others may have any. */
  readonly goal: Readonly<Record<string, string>>;
  /** Slots that matter and that the first request does not state. */
  readonly missing: readonly string[];
}

/**
 * The intent that a task's metadata hold as `slots`, `goal` and `missing`.
 * @throws WhetstoneError `capability.missing` where they hold none.
 */
export function intentOf({ id, metadata: { slots, goal, missing } }: Task): Intent {
  if (isRecord(slots, isTexts) && isRecord(goal, isText) && isTexts(missing)) return { slots, goal, missing };
  throw new WhetstoneError("capability.missing", {
    where: `task ${id}`,
    got: "metadata without a user's intent",
    expected:
      "slots (the values of each), goal (the value of those that matter) and missing (those not said)",
    fix: "Choose an environment whose users have an intent, such as clarification, or put one into the task's metadata.",
  });
}

/** Slots that a text names, each once, in order of occurrence. */
export function slotsNamed({ slots }: Intent, text: string): readonly string[] {
  return [...new Set(text.split(/\s+/))].filter((word) => Object.hasOwn(slots, word));
}

type Value = Json | undefined;

const isText = (x: Value): x is string => typeof x === "string";
const isTexts = (x: Value): x is readonly string[] => Array.isArray(x) && x.every(isText);

function isRecord<T extends Json>(
  x: Value,
  holds: (value: Value) => value is T,
): x is Readonly<Record<string, T>> {
  return typeof x === "object" && x !== null && !Array.isArray(x) && Object.values(x).every(holds);
}
