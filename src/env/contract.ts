/** Runtime checks of an environment's return values, since types do not constrain JavaScript code or casts. */
import { z } from "zod";
import { type ErrorParts, WhetstoneError } from "../core/errors.ts";
import type { Environment, Step } from "./environment.ts";

type Turn = Awaited<ReturnType<Awaited<ReturnType<Environment["start"]>>["observe"]>>;

const text = z.string();
const toolCall = z.object({ id: text, name: text, arguments: text });
/** A message of a conversation. */
export const messageSchema = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: text,
  toolCalls: z.array(toolCall).optional(),
  toolCallId: text.optional(),
});
const turn = z.strictObject({
  role: text,
  observation: z.strictObject({
    messages: z.array(messageSchema),
    whole: z.boolean().optional(),
    maxTokens: z.number().int().positive().optional(),
    stop: z.array(text).optional(),
    stateKey: text.optional(),
    legal: z.array(text).optional(),
  }),
});
const ending = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("done"), reason: text, success: z.boolean().optional() }),
  z.strictObject({
    kind: z.literal("truncated"),
    limit: z.enum(["turns", "tokens", "seconds"]),
    at: z.number(),
  }),
  z.strictObject({
    kind: z.literal("failed"),
    boundary: z.enum(["environment", "model", "tool", "sandbox", "judge"]),
    message: text,
  }),
]);
const step = z.strictObject({
  rewards: z.record(text, z.number()).optional(),
  otherRewards: z.record(text, z.record(text, z.number())).optional(),
  text: text.optional(),
  end: ending.optional(),
});

/** Field names of other libraries, with their names here. */
const names: Readonly<Record<string, string>> = {
  reward: "rewards: { outcome: … }",
  score: "rewards: { outcome: … }",
  done: 'end: { kind: "done", reason: …, success: … }',
  terminated: 'end: { kind: "done", reason: …, success: … }',
  success: 'end: { kind: "done", reason: …, success: … }',
  truncated: 'end: { kind: "truncated", limit: "turns", at: … }',
  observation: "what observe() returns next",
  info: "text: …",
  feedback: "text: …",
};

/** @throws WhetstoneError `environment.broken`, naming the field, where `act` did not return a step. */
export function requireStep(value: unknown): Step {
  const read = step.safeParse(value);
  if (read.success) return value as Step;
  throw broken("act()", value, read.error, "a step: { rewards?, text?, end? }");
}

/** @throws WhetstoneError `environment.broken` where `observe` did not return a turn, or its role is not declared. */
export function requireTurn(value: unknown, { roles }: Pick<Environment, "roles">): Turn {
  const read = turn.safeParse(value);
  if (!read.success)
    throw broken("observe()", value, read.error, "{ role, observation: { messages: [{ role, content }] } }");
  if (roles.includes(read.data.role)) return value as Turn;
  throw wrong({
    where: "observe()",
    got: `the role "${read.data.role}"`,
    expected: `one of the environment's roles: ${roles.join(", ")}`,
    fix: "Return a declared role, or add this one to `roles`.",
  });
}

/** @throws WhetstoneError `environment.broken` where `start` did not return an episode. */
export function requireEpisode<E>(value: E): E {
  const has = (name: string): boolean =>
    typeof value === "object" && value !== null && typeof Reflect.get(value, name) === "function";
  if (has("observe") && has("act")) return value;
  throw wrong({
    where: "start()",
    got: briefly(value),
    expected: "an episode with observe() and act()",
    fix: "Return { observe, act } from start.",
  });
}

/** An error that is quoted in others as a sentence of its own. */
function wrong(parts: Pick<ErrorParts, "where" | "got" | "expected" | "fix">): WhetstoneError {
  const { where, got, expected, fix } = parts;
  const said = `${where} returned ${got}; expected ${expected}. ${fix}`;
  return new WhetstoneError("environment.broken", { ...parts, said });
}

/** What zod calls a type, as people say it. */
const typeNames: Readonly<Record<string, string>> = {
  number: "a finite number",
  string: "a text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function expectedIn({ message }: z.core.$ZodIssue): string {
  const said = message.replace(/^Invalid (input|option|key): /, "").replace(/, received .*$/, "");
  const type = said.replace(/^expected /, "");
  return typeNames[type] ?? type;
}

function broken(where: string, value: unknown, error: z.ZodError, expected: string): WhetstoneError {
  const issue = error.issues[0]!;
  const path = issue.path.join(".");
  const surplus = issue.code === "unrecognized_keys" ? issue.keys : [];
  const at = issue.path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
  const unknown = `${briefly(value)} with unknown ${surplus.map((key) => `"${key}"`).join(", ")}${path && ` in ${path}`}`;
  const instead = surplus.flatMap((key) =>
    Object.hasOwn(names, key) ? `${names[key]} in place of \`${key}\`` : [],
  );
  const field = surplus.length === 0 && path !== "";
  return wrong({
    where,
    got: surplus.length > 0 ? unknown : field ? `${path} = ${briefly(at)}` : briefly(value),
    expected: field ? expectedIn(issue) : expected,
    fix: instead.length > 0 ? `Write ${instead.join(", and ")}.` : `Correct what ${where} returns.`,
  });
}

/** A value as one line of text. */
export function briefly(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "function") return "a function";
  if (value instanceof Promise) return "a promise";
  if (typeof value === "number") return String(value);
  if (Array.isArray(value) && value.length === 0) return "an empty list";
  let json: string;
  try {
    const named = (_key: string, v: unknown) =>
      typeof v === "number" && !Number.isFinite(v) ? `${v}` : typeof v === "function" ? "function" : v;
    json = JSON.stringify(value, named) ?? String(value);
  } catch {
    json = String(value);
  }
  return json.length <= 80 ? json : `${json.slice(0, 77)}…`;
}
