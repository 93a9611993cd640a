/** Ids of what an upstream keeps, such as files, conversations and items of earlier answers, where a request names them. */
import { type Json, type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";

/** An object of the upstream that a request names. */
export interface NamedObject {
  /** The field that names it. */
  readonly field: string;
  readonly id: string;
}

/** Fields whose texts are ids. */
const ids = /^(file|container|vector_store|conversation|response|prompt|skill|audio|image|video|batch)_ids?$/;
/** Fields with an id, or with an object that has one. */
const holders: ReadonlySet<string> = new Set(["container", "conversation", "prompt", "audio", "voice"]);
/** Fields whose contents are the client's own: schemas of tools, arguments of calls, tags. */
const free: ReadonlySet<string> = new Set(["parameters", "input_schema", "schema", "metadata", "arguments"]);
/** Kinds of items that hold what they say; of other kinds the upstream reads the contents by the id. */
const whole: ReadonlySet<Json | undefined> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

/**
 * The objects that a request names beside `previous_response_id`. The upstream would read them with the operator's key,
 * whoever made them.
 * @param body a request of any protocol that the gateway speaks.
 */
export function namedObjects(body: JsonObject): readonly NamedObject[] {
  const found: NamedObject[] = [];
  for (const item of listOf(body.input)) {
    const given = objectOf(item);
    const id = textOf(given?.id);
    const isWhole = whole.has(given?.type) || (given?.type === undefined && given?.role !== undefined);
    if (id !== undefined && !isWhole) found.push({ field: "input", id });
  }
  const left: (JsonObject | readonly Json[])[] = [body];
  for (let given = left.pop(); given; given = left.pop()) {
    const isCall = "type" in given && /tool_use$/.test(textOf(given.type) ?? "");
    for (const [field, value] of Object.entries(given)) {
      if (free.has(field) || (field === "input" && isCall)) continue;
      if (ids.test(field)) for (const id of textsOf(value)) found.push({ field, id });
      if (holders.has(field)) found.push(...held(field, value));
      if (typeof value === "object" && value !== null) left.push(value);
    }
  }
  return found;
}

const textsOf = (value: Json): readonly string[] =>
  [value].flat().filter((text): text is string => typeof text === "string");

function held(field: string, value: Json): readonly NamedObject[] {
  const id = textOf(objectOf(value)?.id) ?? (isPlainId(field) ? textOf(value) : undefined);
  return id === undefined ? [] : [{ field, id }];
}

/** A prompt may be a text, and a voice or sound has a name that is no secret. */
const isPlainId = (field: string): boolean => field === "container" || field === "conversation";
