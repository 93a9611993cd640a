// How often a live comparison decides wrongly where two versions are equal, looked at after every single unit, and how
// many units it takes where they are not.
//
//     node bench/peeking.ts [--tests 1000] [--seed 1] > bench/results/peeking.md
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Random, randomStream } from "../src/core/random.ts";
import { type DecisionOptions, sequentialDecision, type UnitOutcome } from "../src/release/decision.ts";
import { readGuardrail } from "../src/release/guardrails.ts";

export interface Scenario {
  readonly name: string;
  /** Probability that a unit is the candidate's; may depend on what was seen so far (sums of rewards and units by arm). */
  readonly share:
    | number
    | ((seen: Readonly<Record<UnitOutcome["arm"], { n: number; sum: number }>>) => number);
  readonly units: number;
  readonly options?: DecisionOptions;
  draw(arm: UnitOutcome["arm"], random: Random): Omit<UnitOutcome, "arm">;
}

/** Decisions at the first look that was not "hold". */
export interface Peeked {
  readonly promoted: number;
  readonly rolledBack: number;
  /** Median number of units at the decision, of tests with one; NaN of none. */
  readonly median: number;
}

const coin = (p: number, random: Random): number => (random.next() < p ? 1 : 0);
const rewards =
  (candidate: number, baseline = candidate): Scenario["draw"] =>
  (arm, random) => ({ reward: coin(arm === "candidate" ? candidate : baseline, random), measures: {} });
const lognormal = (random: Random): number => Math.exp(random.normal());
const strict = ["errors=+0", "refusals=x1", "latency=x1", "feedback=x1"].map(readGuardrail);

/** Equal versions. */
export const equal: readonly Scenario[] = [
  { name: "thumbs, half of them up, halves", share: 0.5, units: 1000, draw: rewards(0.5) },
  { name: "thumbs, one in ten up, halves", share: 0.5, units: 1000, draw: rewards(0.1) },
  { name: "thumbs, 5 % to the candidate", share: 0.05, units: 2000, draw: rewards(0.5) },
  {
    name: "thumbs, shares that follow what was seen",
    share: ({ candidate: c, baseline: b }) => (c.n > 0 && b.n > 0 && c.sum / c.n > b.sum / b.n ? 0.9 : 0.1),
    units: 1000,
    draw: rewards(0.5),
  },
  {
    name: "ratings of 1 to 5 stars",
    share: 0.5,
    units: 1000,
    options: { range: [1, 5] },
    draw: (_, random) => ({ reward: 1 + random.below(5), measures: {} }),
  },
  {
    name: "rewards without bounds, normal",
    share: 0.5,
    units: 1000,
    options: { range: undefined },
    draw: (_, random) => ({ reward: random.normal(), measures: {} }),
  },
  {
    name: "rewards without bounds, log-normal, 10 % to the candidate",
    share: 0.1,
    units: 3000,
    options: { range: undefined },
    draw: (_, random) => ({ reward: lognormal(random), measures: {} }),
  },
  {
    name: "thumbs, and four guardrails that leave no room at all",
    share: 0.5,
    units: 600,
    options: { guardrails: strict },
    draw: (_, random) => ({
      reward: coin(0.5, random),
      measures: {
        errors: coin(0.02, random),
        refusals: coin(0.1, random),
        latency: 100 * lognormal(random),
        feedback: coin(0.3, random),
      },
    }),
  },
];

/** Versions that differ. */
export const unequal: readonly Scenario[] = [
  { name: "50 % against 60 % liked, halves", share: 0.5, units: 4000, draw: rewards(0.6, 0.5) },
  { name: "50 % against 55 % liked, halves", share: 0.5, units: 12_000, draw: rewards(0.55, 0.5) },
  {
    name: "50 % against 60 % liked, 10 % to the candidate",
    share: 0.1,
    units: 12_000,
    draw: rewards(0.6, 0.5),
  },
  { name: "10 % against 15 % liked, halves", share: 0.5, units: 6000, draw: rewards(0.15, 0.1) },
  {
    name: "errors 1 % against 10 %, limit +0.02, 5 % to the candidate",
    share: 0.05,
    units: 8000,
    options: { guardrails: [readGuardrail("errors=+0.02")] },
    draw: (arm, random) => ({ measures: { errors: coin(arm === "candidate" ? 0.1 : 0.01, random) } }),
  },
  {
    name: "latency doubled, limit x1.5, 5 % to the candidate",
    share: 0.05,
    units: 8000,
    options: { guardrails: [readGuardrail("latency=x1.5")] },
    draw: (arm, random) => ({
      measures: { latency: (arm === "candidate" ? 200 : 100) * Math.exp(0.5 * random.normal()) },
    }),
  },
];

/** Looks after every unit, and stops at the first decision. */
export function peek(scenario: Scenario, tests: number, seed: number): Peeked {
  const { name, share, units, options = {} } = scenario;
  let [promoted, rolledBack] = [0, 0];
  const at: number[] = [];
  for (let test = 0; test < tests; test++) {
    const random = randomStream(seed).split(name, test);
    const evidence = sequentialDecision(options);
    const seen = { candidate: { n: 0, sum: 0 }, baseline: { n: 0, sum: 0 } };
    for (let unit = 1; unit <= units; unit++) {
      const arm =
        random.next() < (typeof share === "number" ? share : share(seen)) ? "candidate" : "baseline";
      const outcome = scenario.draw(arm, random);
      seen[arm].n++;
      seen[arm].sum += outcome.reward ?? 0;
      evidence.see({ arm, ...outcome });
      const decision = evidence.decision();
      if (decision === "hold") continue;
      if (decision === "promote") promoted++;
      else rolledBack++;
      at.push(unit);
      break;
    }
  }
  at.sort((a, b) => a - b);
  return {
    promoted: promoted / tests,
    rolledBack: rolledBack / tests,
    median: at[at.length >> 1] ?? Number.NaN,
  };
}

const percent = (x: number): string => `${(100 * x).toFixed(1)} %`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { tests: { type: "string", default: "1000" }, seed: { type: "string", default: "1" } },
  });
  const [tests, seed] = [Number(values.tests), Number(values.seed)];
  console.log(`# Live comparisons, looked at after every unit

A look follows every single unit, and the first decision counts. Level 5 %: promotions and roll-backs together, guardrails
included. Seed ${seed}.

## Equal versions: every decision is wrong

${tests} tests each; the standard error of a share of 5 % is ${percent(Math.sqrt((0.05 * 0.95) / tests))}.

| | units | promoted | rolled back | wrong |
| --- | --: | --: | --: | --: |`);
  for (const scenario of equal) {
    console.error(scenario.name);
    const { promoted, rolledBack } = peek(scenario, tests, seed);
    console.log(
      `| ${scenario.name} | ${scenario.units.toLocaleString("en")} | ${percent(promoted)} | ${percent(rolledBack)} | ${percent(promoted + rolledBack)} |`,
    );
  }
  const few = Math.ceil(tests / 10);
  console.log(`
## Versions that differ

${few} tests each.

| | units at most | promoted | rolled back | median units until then |
| --- | --: | --: | --: | --: |`);
  for (const scenario of unequal) {
    console.error(scenario.name);
    const { promoted, rolledBack, median } = peek(scenario, few, seed);
    const until = Number.isNaN(median) ? "–" : median.toLocaleString("en");
    console.log(
      `| ${scenario.name} | ${scenario.units.toLocaleString("en")} | ${percent(promoted)} | ${percent(rolledBack)} | ${until} |`,
    );
  }
}
