/** A candidate gets half of the visits, until live evidence says to promote it or roll it back. */
import type { Id } from "../../src/core/types.ts";
import type { Visit, Visitors } from "../../src/env/users/visitors.ts";
import { type Decision, sequentialDecision } from "../../src/release/decision.ts";
import { readGuardrail } from "../../src/release/guardrails.ts";
import type { Learnt } from "./learners.ts";
import type { Service } from "./service.ts";

export interface Trial {
  readonly service: Service;
  readonly people: Visitors;
  readonly live: Id;
  readonly candidate: Id;
  /** What versions are compared by, and what may still speak against the candidate. */
  readonly learnt: Pick<Learnt, "worth" | "objection">;
  /** Total visits, and visits between two looks. */
  readonly visits: number;
  readonly batch: number;
}

export interface Tried {
  readonly judgement: Decision;
  readonly visits: readonly Visit[];
}

/** Failed replies, and replies of twice the length, count as harm whatever users say. */
const guardrails = ["errors=+0.05", "length=x2"].map(readGuardrail);

/**
 * Serves visits in batches with a look after each, all at one error rate. A candidate is promoted once it is shown to be at
 * most a tenth worse (non-inferiority): training improved it already, so superiority need not be shown as well. The winner
 * gets the remaining visits; if nothing is shown, the live version stays.
 */
export async function tried(trial: Trial): Promise<Tried> {
  const { service, people, live, candidate, learnt, batch } = trial;
  const verdict = sequentialDecision({ guardrails, minimumEffect: -0.1 });
  const split = `${candidate} beside ${live}`;
  await service.split(split, { [live]: 0.5, [candidate]: 0.5 }, `${candidate} begins at 50 %`);
  const visits: Visit[] = [];
  const began = Date.now();
  let judgement = verdict.judgement();
  while (visits.length < trial.visits && judgement.decision === "hold") {
    const since = Date.now();
    visits.push(...(await people.come(Math.min(batch, trial.visits - visits.length))));
    await people.tell();
    for (const { response, signals } of await service.heard(since)) {
      const reward = await learnt.worth({ response, signals });
      verdict.see({
        arm: response.version === candidate ? "candidate" : "baseline",
        ...(reward === undefined ? {} : { reward }),
        measures: Object.fromEntries(
          guardrails.flatMap(({ name, measure }) => {
            const x = measure.of === "response" ? measure.value(response) : measure.value(signals);
            return x === undefined ? [] : [[name, x]];
          }),
        ),
      });
    }
    judgement = verdict.judgement();
    if (judgement.decision === "promote") {
      const objection = await learnt.objection?.(await service.logged(began));
      if (objection !== undefined) judgement = { ...judgement, decision: "hold", why: objection };
    }
  }
  const winner = judgement.decision === "promote" ? candidate : live;
  await service.split(
    `${winner} alone after ${candidate}`,
    { [winner]: 1 },
    `${candidate}: ${judgement.why}`,
  );
  visits.push(...(await people.come(trial.visits - visits.length)));
  await people.tell();
  return { judgement, visits };
}
