/** A request's body, once it is known to be what was asked for. */
import type { z } from "zod";
import { readJson } from "../http/body.ts";
import { settingsBody } from "./limits.ts";
import { isRefused, type Refused } from "./refusal.ts";

/** Fields of which it is said what is wrong with them. */
const mostTold = 20;

/**
 * The body as the schema has it, or the first fields that are wrong.
 * @param schemaOf chooses by the body, where there are several: what is wrong is then said of that one alone.
 */
export async function checked<T>(
  request: Request,
  schemaOf: z.ZodType<T> | ((body: unknown) => z.ZodType<T>),
): Promise<T | Refused> {
  const read = await readJson(request, settingsBody);
  if (isRefused(read)) return read;
  const schema = typeof schemaOf === "function" ? schemaOf(read.json) : schemaOf;
  const parsed = schema.safeParse(read.json);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues
    .slice(0, mostTold)
    .map(({ path, message }) => ({ path: path.join("."), message }));
  const message = fields.map((f) => `${f.path || "body"}: ${f.message}`).join("; ");
  return { status: 400, code: "invalid_request", message: `${message}.`, fields };
}
