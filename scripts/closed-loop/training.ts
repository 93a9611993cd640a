/** The initial policy, and its next versions: trained on the users' requests, with a fitted reward model. */
import { constant } from "../../src/advantage/constant.ts";
import type { Helper, StatefulHelper } from "../../src/core/context.ts";
import type { Model } from "../../src/core/model.ts";
import type { Task } from "../../src/core/types.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { alreadyOver, defineEnvironment, type Environment } from "../../src/env/environment.ts";
import { users } from "../../src/env/users/users.ts";
import { learntReward } from "../../src/feedback/learntReward.ts";
import type { Features } from "../../src/helper/ridge.ts";
import { method } from "../../src/method/method.ts";
import { clippedRatio } from "../../src/objective/clippedRatio.ts";
import { klPenalty } from "../../src/objective/klPenalty.ts";
import { likelihood } from "../../src/objective/likelihood.ts";
import { demonstrated } from "../../src/rollout/demonstrated.ts";
import { trainInMemory } from "../../src/train/trainInMemory.ts";
import { featuresOf } from "./learners.ts";

/** The initial service, neither good nor bad: imitates the environment's flawed player. */
export async function beginner(
  engine: Engine,
  seed: number,
  updates: number,
  stop: AbortSignal,
): Promise<Model> {
  const imitation = method({
    id: "imitation",
    family: "baseline",
    summary: "imitates the environment's flawed player",
    slots: { rollout: demonstrated({ player: "flawed" }), advantage: constant(), objective: likelihood() },
  });
  const { policy } = await trainInMemory({
    environment: users({ seed }),
    engine,
    seed,
    iterations: updates,
    contextTokens: 16,
    method: imitation.build({ tasks: 64, minibatches: 1, learningRate: 3e-3 }),
    stop,
  });
  return policy;
}

export interface NextVersion {
  readonly from: Model;
  /** Requests of users. */
  readonly requests: readonly string[];
  /** A fitted reward model. */
  readonly reward: Helper<Features, number | null, number>;
  readonly seed: number;
  readonly iterations: number;
  readonly stop: AbortSignal;
}

/** GRPO from the live version, on its users' requests, with a KL pull towards it. */
export async function nextVersion(next: NextVersion): Promise<Model> {
  const { from, requests, reward, seed, iterations, stop } = next;
  const improvement = method({
    id: "improvement",
    family: "user-feedback",
    summary: "learns from a reward that was fitted to users' feedback",
    frozen: { reference: {} },
    helpers: { reward: () => fitted(reward) },
    slots: ({ clipLow: low, clipHigh: high }) => ({
      feedback: learntReward({
        keep: 0,
        features: (_ctx, { turns }) => (turns[0] ? featuresOf(turns[0]) : {}),
      }),
      objective: [clippedRatio({ clip: { low, high } }), klPenalty({ coefficient: 0.02 })],
    }),
  });
  const live: Engine = {
    name: "the live version",
    can: from.can,
    create: () => from.fork("fresh"),
    open: () => from.fork("fresh"),
    dispose: async () => {},
  };
  const { policy } = await trainInMemory({
    environment: asked(requests),
    engine: live,
    seed,
    iterations,
    method: improvement.build({ tasks: 16, groupSize: 8, learningRate: 2e-3 }),
    stop,
  });
  return policy;
}

/** A run does not save it: it is already fitted, and does not change. */
const fitted = (
  reward: Helper<Features, number | null, number>,
): StatefulHelper<Features, number | null, number> => ({
  ...reward,
  save: () => null,
  load: () => {},
});

/** The users' requests as tasks. The environment itself gives no reward. */
function asked(requests: readonly string[]): Environment {
  const tasks = requests.map(
    (content, i): Task => ({
      id: `request/${i}`,
      prompt: [{ role: "user", content }],
      metadata: {},
      seed: i,
    }),
  );
  return defineEnvironment({
    name: "requests",
    summary: "what users asked, to be replied to again",
    abilities: new Set<never>(),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 1, actionTokens: 3 },
    tasks: (split) => (split === "train" ? tasks : []),
    async start() {
      let over = false;
      return {
        observe: async () => ({ role: "agent", observation: { messages: [] } }),
        async act() {
          if (over) return alreadyOver;
          over = true;
          return { end: { kind: "done", reason: "replied" } };
        },
      };
    },
  });
}
