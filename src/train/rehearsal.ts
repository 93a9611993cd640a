/** A small iteration of each method before a comparison, so that what a method lacks is said before the others ran for hours. */
import { isWhetstoneError, WhetstoneError } from "../core/errors.ts";
import type { Engine } from "../engine/engine.ts";
import { type ComparisonPlan, type Contender, hasRuns } from "./comparison.ts";
import { usualContext } from "./config.ts";
import { requireNeeds } from "./requirements.ts";
import { trainInMemory } from "./trainInMemory.ts";

/** Tasks of the small iteration. */
const tasks = 2;

/**
 * Each method is built, held against the engine's capabilities, and, where sampling costs nothing, trained for one iteration of two
 * tasks in memory.
 * @param rehearses called before a method is trained.
 * @throws WhetstoneError `capability.missing`, with every method that cannot train here and why.
 */
export async function rehearse(plan: ComparisonPlan, rehearses: (id: string) => void): Promise<void> {
  // what has run already has been rehearsed
  if (hasRuns(plan)) return;
  const unable: { readonly id: string; readonly why: string }[] = [];
  for (const contender of plan.contenders) {
    plan.stop.throwIfAborted();
    const engine = await plan.engine();
    try {
      await rehearsed(plan, contender, engine, rehearses);
    } catch (e) {
      if (!isWhetstoneError(e) || plan.stop.aborted) throw e;
      unable.push({ id: contender.id, why: e.message });
    } finally {
      await engine.dispose();
    }
  }
  if (unable.length === 0) return;
  const rest = plan.contenders.filter(({ id }) => !unable.some((one) => one.id === id));
  throw new WhetstoneError("capability.missing", {
    where: "compare",
    got: unable.map(({ id, why }) => `${id}, which cannot train here (${why})`).join("; "),
    expected: "methods that can all train with this engine in this environment",
    fix:
      rest.length > 1
        ? `Leave it out: whetstone compare ${rest.map(({ id }) => id).join(" ")} …`
        : "Choose other methods, another engine, or another environment.",
  });
}

async function rehearsed(
  { environment, contextTokens, stop }: ComparisonPlan,
  contender: Contender,
  engine: Engine,
  rehearses: (id: string) => void,
): Promise<void> {
  const method = contender.with({ ...contender.grid[0], tasks }).build(engine.learningRate);
  requireNeeds(method, engine, 0);
  // a call of a remote model costs money
  if (!engine.can.has("train") || engine.remoteState) return;
  rehearses(contender.id);
  await trainInMemory({
    environment,
    method,
    engine,
    seed: 1,
    iterations: 1,
    stop,
    contextTokens: contextTokens ?? (await usualContext(engine)),
  });
}
