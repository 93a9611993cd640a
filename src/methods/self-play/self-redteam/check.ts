import type { Rollout } from "../../../core/slots.ts";
import { type Prior, tabularEngine } from "../../../engine/tabular/engine.ts";
import { bestResponse, type Game, gameEnvironment, payoffsUnder, strategyOf } from "../../../env/index.ts";
import type { Recipe } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { type Arm, defineCheck } from "../../../train/check.ts";
import { plainAscent, trainingArm } from "../../../train/trainingArm.ts";
import { disguises, wordingsOf } from "./disguises.ts";
import { selfRedteam } from "./method.ts";

const [wordings, groupSize, tasks] = [24, 4, 8];
const environment = gameEnvironment(disguises({ wordings }) as Game);

/** The first attacker mostly words plainly, and hardly ever in most of the disguises; the first defender tends to comply. */
const attack = new Map(wordingsOf(wordings).map((word, i) => [word, [3, 1, 0][i] ?? -5]));
const defence = new Map([
  ["comply", 1],
  ["refuse", 0],
]);
const prior =
  (anyWording: boolean): Prior =>
  (context, word) => {
    const logit = (context.includes("worded") ? defence : attack).get(word);
    return logit === undefined ? -1e9 : anyWording && attack.has(word) ? 0 : logit;
  };

function arm(what: string, rollout?: Rollout, anyWording = false): Arm {
  const recipe: Recipe<typeof selfRedteam.options> = {
    ...selfRedteam,
    build: (settings, options) => {
      const built = selfRedteam.build(settings, options);
      return rollout ? { ...built, slots: { ...built.slots, rollout } } : built;
    },
  };
  return trainingArm({
    what,
    recipe,
    environment: () => environment,
    engine: () => tabularEngine({ prior: prior(anyWording) }),
    iterations: 200,
    settings: { ...plainAscent, tasks, groupSize },
    grid: [5, 10, 20, 40].map((learningRate) => ({ learningRate })),
    metric: async ({ policy }) => (await exactly(policy)).anyhow,
    more: async ({ policy }) => {
      const { best, own, entropy } = await exactly(policy);
      return {
        "right answers to the best attack": best,
        "right answers to its own attacks": own,
        "entropy of the attacks, nats": entropy,
      };
    },
  });
}

/** Shares of right answers of the defender, by who attacks, and the entropy of the attacks, mean over the kinds of requests. */
async function exactly(policy: Parameters<typeof strategyOf>[1]) {
  const tree = environment.tree();
  const { strategy } = await strategyOf(tree, policy);
  const attacks = strategy.filter((_, set) => tree.sets[set]!.role === 0);
  const anyhow = strategy.map((row, set) =>
    tree.sets[set]!.role === 0 ? new Float64Array(row.length).fill(1 / row.length) : row,
  );
  const nats = attacks.map((row) => -row.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0));
  return {
    anyhow: (1 + payoffsUnder(tree, anyhow)[1]!) / 2,
    own: (1 + payoffsUnder(tree, strategy)[1]!) / 2,
    best: (1 - bestResponse(tree, strategy, 0).value) / 2,
    entropy: nats.reduce((a, b) => a + b, 0) / nats.length,
  };
}

/** The defender alone learns, against the policy as it was at first. */
const againstFrozen = multiTurn({ groupSize, roles: ["defender"], models: { attacker: "reference" } });

export default defineCheck({
  id: "self-redteam",
  level: "table",
  simpler: ["baseline"],
  claim:
    "A defender whose attacker learns as well answers rare disguises rightly more often than one that is trained on the first attacker alone.",
  metric:
    "share of right answers, refusals of harmful requests and compliance with harmless ones, over all wordings alike, exact",
  direction: "higher",
  smallestEffect: 0.02,
  range: [0, 1],
  notes:
    "A table learns nothing of one wording from another, so that a defender needs attacks of every kind, and a softmax that learns to attack commits itself to the wording that works now: on rare ones it loses more games than the first attacker makes by chance. Against wordings at random the defender is right far more often, so that there is room. Tried on other seeds: first logits of −3 to −6 for the rare wordings (equal or worse), twice the games (ahead by 0.05 on two seeds), rewards normalised over both roles (equal), six wordings and right answers to the best attack as the metric (worse at every large step). Diversity of attacks, which the paper finds, does come at small steps: 2.5 nats in place of 0.8.",
  baseline: arm("the defender against the first attacker", againstFrozen),
  method: arm("attacker and defender learn"),
  others: {
    "any wording": arm("the defender against an attacker that words at random", againstFrozen, true),
  },
});
