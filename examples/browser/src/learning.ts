/** Training as the page asks for it, in the page's worker. The loop, the engines and the pieces are the library's own. */
import { returnsToGo } from "../../../src/advantage/index.ts";
import { method, pageEngine, tabularEngine, trainInMemory } from "../../../src/browser.ts";
import { perTurn } from "../../../src/credit/index.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { turnRewards } from "../../../src/feedback/index.ts";
import { policyGradient } from "../../../src/objective/index.ts";
import { multiTurn } from "../../../src/rollout/index.ts";
import { type Played, played } from "./played.ts";
import { teaHouse } from "./teaHouse.ts";

export interface Asked {
  readonly seed: number;
  readonly iterations: number;
  /** Guests of each kind in an iteration. */
  readonly attempts: number;
  /** "gpu": tables where there is none. */
  readonly engine: "gpu" | "tables";
  /** Whether a software adapter will do, for tests. */
  readonly software: boolean;
}

export type Told =
  | { readonly kind: "started"; readonly device: string; readonly why?: string; readonly parameters?: number }
  | {
      readonly kind: "iteration";
      /** From 1. */
      readonly iteration: number;
      /** Share of its episodes in which the guest was served. */
      readonly success: number;
      readonly seconds: number;
      /** One episode of each task. */
      readonly episodes: readonly Played[];
    }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly message: string };

/** A step is compared with the group's other steps that began in the same place. */
const steps = method({
  id: "compared-steps",
  family: "example",
  summary: "each step's return, compared with the other steps from the same state",
  slots: ({ groupSize }) => ({
    rollout: multiTurn({ groupSize, constrained: true }),
    feedback: turnRewards(),
    credit: perTurn(),
    advantage: returnsToGo({ discount: 0.7, baseline: "state", normalise: true }),
    objective: policyGradient(),
  }),
});

/** A small transformer where there is a GPU; else a table of the words after each observation. */
async function engineFor({
  engine,
  software,
}: Asked): Promise<{ engine: Engine; device: string; why?: string }> {
  const table = { engine: tabularEngine({ context: "message" }), device: "tables" };
  if (engine === "tables") return table;
  const size = { width: 32, layers: 1, heads: 2, kvHeads: 2, feedForward: 64 };
  try {
    const gpu = await pageEngine({ size, software });
    return { engine: gpu, device: gpu.adapter.name };
  } catch (e) {
    return { ...table, why: e instanceof Error ? e.message : String(e) };
  }
}

export async function learn(asked: Asked, tell: (told: Told) => void): Promise<void> {
  const { engine, device, why } = await engineFor(asked);
  const pace = device === "tables" ? { learningRate: 0.3 } : { learningRate: 0.007, minibatches: 8 };
  tell({ kind: "started", device, ...(why !== undefined && { why }) });
  let began = performance.now();
  await trainInMemory({
    environment: teaHouse,
    method: steps.build({ ...pace, tasks: 4, groupSize: asked.attempts }),
    engine,
    seed: asked.seed,
    iterations: asked.iterations,
    contextTokens: 128,
    onIteration({ experience, advantages }, { iteration }, { codec }) {
      const { trajectories } = experience;
      const success = trajectories.filter((t) => t.end.kind === "done").length / trajectories.length;
      const now = performance.now();
      const byTask = [...Map.groupBy(trajectories, (t) => t.task)].sort(([a], [b]) => (a < b ? -1 : 1));
      const firsts = byTask.map(([, [first]]) => first!);
      tell({
        ...{ kind: "iteration", iteration, success, seconds: (now - began) / 1000 },
        episodes: firsts.map((t) => played(t, advantages.get(t.id), codec)),
      });
      began = now;
    },
  });
  await engine.dispose();
  tell({ kind: "done" });
}
