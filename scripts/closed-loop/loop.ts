/** The closed loop: users talk to a gateway and give feedback; the next version is trained on it and released with guardrails. */

import { mean } from "../../src/common/statistics/statistics.ts";
import type { Model } from "../../src/core/model.ts";
import type { Logged } from "../../src/core/served.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { type Visit, visitors } from "../../src/env/users/visitors.ts";
import { requestOf } from "./judges.ts";
import type { Learner } from "./learners.ts";
import { type Tried, tried } from "./release.ts";
import { startService } from "./service.ts";
import { beginner, nextVersion } from "./training.ts";

/** Sizes of the demonstration. */
export interface Plan {
  readonly rounds: number;
  /** Visits per round. */
  readonly visits: number;
  /** Visits between two evaluations of a candidate. */
  readonly batch: number;
  /** Iterations of imitation before the first visit, and of training for each candidate. */
  readonly imitation: number;
  readonly training: number;
}

export const usualPlan: Plan = { rounds: 3, visits: 500, batch: 100, imitation: 200, training: 30 };
export const quickPlan: Plan = { rounds: 1, visits: 60, batch: 30, imitation: 20, training: 3 };

/** Size of the policy, a transformer of about 80,000 parameters. */
export const policySize = { width: 64, layers: 2, heads: 2, kvHeads: 2, feedForward: 128 };

/** Results of one round, including the true utility that learners do not see. */
export interface Round {
  readonly learner: string;
  /** 0: before any learning; the last one: after all of it. */
  readonly round: number;
  /** Mean true utility of the replies, in [0, 1]. */
  readonly utility: number;
  /** Share of likes among thumbs. */
  readonly likes: number;
  readonly visits: number;
  /** The version that answers the next visits, and the decision about this round's candidate. */
  readonly live: string;
  readonly decision?: Tried["judgement"]["decision"];
  readonly why?: string;
}

export interface Setting {
  readonly engine: Engine;
  readonly seed: number;
  readonly plan: Plan;
  readonly stop: AbortSignal;
  readonly report: (round: Round) => void;
  /** The current activity, in a few words. */
  readonly underway?: (what: string) => void;
}

/** The initial policy of all learners. */
export const firstVersion = ({ engine, seed, plan, stop }: Setting): Promise<Model> =>
  beginner(engine, seed, plan.imitation, stop);

/** All rounds of one learner, and a final one without learning, which measures the result. */
export async function closedLoop(
  learner: Learner,
  first: Model,
  setting: Setting,
): Promise<readonly Round[]> {
  const { seed, plan, stop, underway = () => {} } = setting;
  const service = await startService("v0", first, { tokens: 3 });
  try {
    const people = visitors({ url: service.url, seed, stop });
    const rounds: Round[] = [];
    const heard: Logged[] = [];
    let live: Held = { id: "v0", model: first };
    const done = (round: number, visits: readonly Visit[], more: Partial<Round> = {}): void => {
      const made = { learner: learner.name, round, live: live.id, ...measured(visits), ...more };
      rounds.push(made);
      setting.report(made);
    };

    let since = Date.now();
    underway(`${plan.visits} visits`);
    let visits = await people.come(plan.visits);
    await people.tell();
    done(0, visits);
    for (let round = 1; round <= plan.rounds; round++) {
      underway(`round ${round}: a reward model, and training on it`);
      const logged = await service.logged(since);
      heard.push(...logged);
      const learnt = await learner.learn(heard);
      const model = await nextVersion({
        from: live.model,
        requests:
          learnt.shown ?? logged.map(({ trajectory: { turns } }) => ({ request: requestOf(turns[0]) })),
        reward: learnt.reward,
        seed: seed * 1000 + round,
        iterations: plan.training,
        stop,
      });
      const candidate: Held = { id: `v${round}`, model };
      await service.add(candidate.id, model, live.id);
      underway(`round ${round}: ${candidate.id} beside ${live.id}`);
      since = Date.now();
      const trial = { service, people, live: live.id, candidate: candidate.id, learnt };
      const { judgement, visits: served } = await tried({ ...trial, visits: plan.visits, batch: plan.batch });
      if (judgement.decision === "promote") live = candidate;
      done(round, served, { decision: judgement.decision, why: judgement.why });
    }
    underway(`${plan.visits} visits more`);
    visits = await people.come(plan.visits);
    done(plan.rounds + 1, visits);
    return rounds;
  } finally {
    await service.close();
  }
}

interface Held {
  readonly id: string;
  readonly model: Model;
}

function measured(visits: readonly Visit[]): Pick<Round, "utility" | "likes" | "visits"> {
  const thumbs = visits.flatMap(({ reaction }) => (reaction.thumb === undefined ? [] : [reaction.thumb]));
  return { utility: mean(visits.map((v) => v.utility)), likes: mean(thumbs), visits: visits.length };
}
