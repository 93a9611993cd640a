/** Reads and validates a request body. */
import type { z } from "zod";
import { readJson } from "../http/body.ts";
import { settingsBody } from "./limits.ts";
import { isRefused, type Refused } from "./refusal.ts";

/** Most invalid fields that a response names. */
const mostTold = 20;

/**
 * The body as the schema parses it, or the first invalid fields.
 * @param schemaOf chooses one of several schemas by the body: errors are then those of that schema alone.
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
