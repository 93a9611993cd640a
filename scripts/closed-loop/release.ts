/** A candidate beside the live version: half of the visits, until live evidence says promote or roll back. */
import type { Id } from "../../src/core/types.ts";
import type { Visit, Visitors } from "../../src/env/users/visitors.ts";
import { meanValue } from "../../src/release/evidence.ts";
import { readGuardrail } from "../../src/release/guardrails.ts";
import { type Judgement, judge } from "../../src/release/verdict.ts";
import type { Service } from "./service.ts";

export interface Trial {
  readonly service: Service;
  readonly people: Visitors;
  readonly live: Id;
  readonly candidate: Id;
  /** What versions are judged by. */
  readonly channel: string;
  /** Visits in all, and between two looks. */
  readonly visits: number;
  readonly batch: number;
}

export interface Tried {
  readonly judgement: Judgement;
  readonly visits: readonly Visit[];
}

/** Replies that fail, or become twice as long, are harm whatever users say. */
const guardrails = ["errors=+0.05", "length=x2"].map(readGuardrail);

/**
 * Visits in batches, a look after each, all at one error rate. Promoted is what is shown to be worse by a tenth at the most:
 * practice has made it, so that it need not be shown to be better as well. The winner gets all that is left of the visits;
 * where nothing is shown, the version that was live stays.
 */
export async function tried(trial: Trial): Promise<Tried> {
  const { service, people, live, candidate, channel, batch } = trial;
  const rewardOf = meanValue(channel);
  const verdict = judge({ guardrails, minimumEffect: -0.1 });
  const split = `${candidate} beside ${live}`;
  await service.split(split, { [live]: 0.5, [candidate]: 0.5 }, `${candidate} begins at 50 %`);
  const visits: Visit[] = [];
  let judgement = verdict.judgement();
  while (visits.length < trial.visits && judgement.decision === "hold") {
    const since = Date.now();
    visits.push(...(await people.come(Math.min(batch, trial.visits - visits.length))));
    await people.tell();
    for (const { response, signals } of await service.heard(since)) {
      const reward = rewardOf(signals);
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
