/** The initial policy, and its next versions: trained on the users' requests, with a fitted reward model. */
import { constant } from "../../src/advantage/constant.ts";
import type { StatefulHelper } from "../../src/core/context.ts";
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
import type { Score } from "./judges.ts";
import { featuresOf } from "./learners.ts";

const imitation = (player: "expert" | "flawed") =>
  method({
    id: "imitation",
    family: "baseline",
    summary: `imitates the environment's ${player} player`,
    slots: { rollout: demonstrated({ player }), advantage: constant(), objective: likelihood() },
  });

/** The initial service, neither good nor bad: imitates the environment's flawed player. */
export async function beginner(
  engine: Engine,
  seed: number,
  updates: number,
  stop: AbortSignal,
): Promise<Model> {
  const { policy } = await trainInMemory({
    environment: users({ seed }),
    engine,
    seed,
    iterations: updates,
    contextTokens: 16,
    method: imitation("flawed").build({ tasks: 64, minibatches: 1, learningRate: 3e-3 }),
    stop,
  });
  return policy;
}

export interface NextVersion {
  readonly from: Model;
  /** Requests of users, with the replies to imitate, if any. */
  readonly requests: readonly Asked[];
  /** Of a reply by its features, already fitted; undefined: the replies are imitated. */
  readonly reward: Score | undefined;
  readonly seed: number;
  readonly iterations: number;
  readonly stop: AbortSignal;
}

export interface Asked {
  readonly request: string;
  readonly reply?: string;
}

/** From the live version: GRPO on the users' requests with a KL pull towards it, or imitation. */
export async function nextVersion(next: NextVersion): Promise<Model> {
  const { from, requests, reward, seed, iterations, stop } = next;
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
    method: reward
      ? improvement(reward).build({ tasks: 16, groupSize: 8, learningRate: 2e-3 })
      : imitation("expert").build({ tasks: 16, minibatches: 1, learningRate: 2e-3 }),
    stop,
  });
  return policy;
}

const improvement = (reward: Score) =>
  method({
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

/** A helper that is already fitted and does not change. */
const fitted = (reward: Score): StatefulHelper<Features, number | null, number> => ({
  fit: async () => ({}),
  predict: reward,
  save: () => null,
  load: () => {},
});

/** The users' requests as tasks. The environment itself gives no reward. */
function asked(requests: readonly Asked[]): Environment {
  const tasks = requests.map(
    ({ request, reply }, i): Task => ({
      id: `request/${i}`,
      prompt: [{ role: "user", content: request }],
      ...(reply !== undefined && { reference: reply }),
      metadata: {},
      seed: i,
    }),
  );
  return defineEnvironment({
    name: "requests",
    summary: "what users asked, to be replied to again",
    abilities: new Set(["expert"] as const),
    roles: ["agent"],
    splits: ["train"],
    limits: { turns: 1, actionTokens: 3 },
    tasks: (split) => (split === "train" ? tasks : []),
    expert: (task) => task.reference ?? "",
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
