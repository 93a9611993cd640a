/** What bounds a run, what it costs, and where a model behind an API is: kept with it, and may be stated otherwise when it goes on. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { messageOf, WhetstoneError } from "../core/errors.ts";
import { runRows, type StatedRun } from "./options.ts";

type Name =
  | "budget"
  | "episodes"
  | "maxSpend"
  | "price"
  | "maxCalls"
  | "maxTokens"
  | "cache"
  | "url"
  | "keyEnv";
export type Limits = Pick<StatedRun, Name>;

const schema = z.object({
  budget: z.exactOptional(runRows.budget.schema),
  episodes: z.exactOptional(runRows.episodes.schema),
  maxSpend: z.exactOptional(runRows.maxSpend.schema),
  price: z.exactOptional(runRows.price.schema),
  maxCalls: z.exactOptional(runRows.maxCalls.schema),
  maxTokens: z.exactOptional(runRows.maxTokens.schema),
  url: z.exactOptional(runRows.url.schema),
  keyEnv: z.exactOptional(runRows.keyEnv.schema),
  /** Seen from the run's folder, as its other files are: the whole project can be moved. */
  cache: z.exactOptional(runRows.cache.schema),
});

/** Those that are stated, as the run in `out` keeps them. A server that trains is part of what the run is, and is kept with that. */
export function limitsOf(out: string, stated: StatedRun): z.output<typeof schema> {
  const { url: _url, keyEnv: _keyEnv, ...others } = stated;
  const { cache } = stated;
  const kept = schema.parse(stated.engine === "chat" ? stated : others);
  return cache === undefined
    ? kept
    : { ...kept, cache: relative(resolve(out), resolve(cache)).replaceAll("\\", "/") };
}

/** What the run in `out` keeps; nothing of one that keeps none. @throws WhetstoneError `checkpoint.damaged`. */
export function limitsIn(out: string): Limits {
  const file = join(out, "limits.json");
  if (!existsSync(file)) return {};
  try {
    // a limit under an unknown name would not be kept to
    const { cache, ...kept } = schema.strict().parse(JSON.parse(readFileSync(file, "utf8")));
    return cache === undefined ? kept : { ...kept, cache: resolve(out, cache) };
  } catch (e) {
    throw new WhetstoneError("checkpoint.damaged", {
      where: file,
      got: messageOf(e).replaceAll(/\s+/g, " "),
      expected: "what bounds the run, such as maxSpend, price, maxCalls and episodes",
      fix: "Correct the file, or take it away and state the limits anew.",
      cause: e,
    });
  }
}
