/**
 * The loop that everything is: practise, look at what happened, give credit, learn, repeat.
 *
 *     tasks ─▶ rollout ─▶ annotate ─▶ feedback ─▶ credit ─▶ advantage ─▶ objective ─▶ update ─┐
 *       ▲                                                                                     │
 *       └──────────────────────────── data ◀──────────────────────────────────────────────────┘
 */
import { batchOf } from "../core/pack.ts";
import type {
  Advantaged,
  Advantages,
  Channels,
  Evidence,
  Experience,
  Method,
  Notes,
  Slots,
} from "../core/slots.ts";
import type { Stats, Trajectory } from "../core/words.ts";
import type { Run } from "./assemble.ts";
import { clockOf } from "./state.ts";

/** What an iteration has brought home, before anything is learnt from it. */
interface Gathered {
  readonly slots: Slots;
  readonly ctx: Ctx;
  readonly evidence: Evidence;
  readonly advantaged: Advantaged<AdvantageStates> & { readonly advantages: Advantages };
  readonly dataState: Json;
  readonly seconds: number;
}

/** What one iteration brought. */
export interface Iteration {
  readonly experience: Experience;
  readonly advantages: Advantages;
  readonly stats: Stats;
  readonly seconds: { readonly rollout: number; readonly update: number };
}

/** Runs until the planned iterations are done or the budget is spent. @throws the stop signal's reason when stopped. */
export async function loop(run: Run): Promise<void> {
  await run.validate(); // where a stop cut it short
  while (run.state.iteration < run.settings.iterations && !run.isSpent()) {
    const boundary = structuredClone(run.state);
    // gathering changes no weights: those of the boundary are still in place when a stop ends it
    const gathered = await run.saveIfStopped(boundary, () => gather(run));
    await run.commit(await learn(run, gathered));
    await run.validate();
    await run.checkpointIfDue();
  }
}
