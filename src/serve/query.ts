/** Validates query parameters. */
import type { MiddlewareHandler } from "hono";
import { said } from "../http/body.ts";
import type { Gated } from "./auth.ts";
import { refusal } from "./refusal.ts";

/**
 * Refuses requests with other query parameters than these, or with one twice unless its name ends in `*`. If an unknown filter
 * were ignored, the response would hold what the client did not ask for.
 */
export function takes(...names: readonly string[]): MiddlewareHandler<Gated> {
  const known = new Set(names.map((name) => name.replace("*", "")));
  const many = new Set(names.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1)));
  return async (c, next) => {
    const strange = Object.entries(c.req.queries()).find(
      ([name, values]) => !known.has(name) || (values.length > 1 && !many.has(name)),
    );
    if (!strange) return next();
    const [name] = strange;
    const expected = known.size === 0 ? "no parameters" : `${[...known].join(", ")}, each at most once`;
    const message = known.has(name)
      ? `${name}: got the parameter twice, expected it at most once`
      : `got the parameter ${said(name)}, expected ${expected}`;
    return refusal({
      status: 400,
      code: "invalid_query",
      message: `${message}.`,
      fields: [{ path: name.slice(0, 80), message }],
    });
  };
}
