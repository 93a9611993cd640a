import { exponentialWeights } from "../../../advantage/exponentialWeights.ts";
import { returnsToGo } from "../../../advantage/returnsToGo.ts";
import { criticAdvantages } from "../../../annotate/criticAdvantages.ts";
import type { Annotate } from "../../../core/slots.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { fromAnnotation } from "../../../feedback/fromAnnotation.ts";
import { expectileCritic } from "../../../helper/expectileCritic.ts";
import { method, type Phase, type Recipe } from "../../../method/method.ts";
import { policyGradient } from "../../../objective/policyGradient.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { minibatches } from "../../../update/minibatches.ts";
import { logRatios } from "./logRatios.ts";

export interface TscacOptions {
  /** The reward to maximise. Default "watch". */
  readonly main?: string;
  /** Rewards that must not fall, each with its λ > 0; their sum is the temperature Λ. Default { like: 0.1 }. */
  readonly auxiliaries?: Readonly<Record<string, number>>;
  /** γ of each reward, by name. Default 0.99. */
  readonly discounts?: Readonly<Record<string, number>>;
  /** Training iterations of each auxiliary policy. Default 15. */
  readonly iterations?: number;
  /** Step size of the auxiliary policies' SGD. Default 100. */
  readonly auxiliaryRate?: number;
  /** Least propensity of a token, and the largest weight of an action. Default 0.01 and 10. */
  readonly floor?: number;
  readonly most?: number;
  /** Annotator that writes the main reward's advantage to the note `<main>.advantage`. Default: from an expectation critic. */
  readonly advantage?: Annotate;
}

export function tscacWith(options: TscacOptions = {}): Recipe {
  const { main = "watch", auxiliaries = { like: 0.1 }, discounts = {}, iterations = 15 } = options;
  const { auxiliaryRate = 100, floor = 0.01, most = 10 } = options;
  const names = Object.keys(auxiliaries);
  const temperature = Object.values(auxiliaries).reduce((a, b) => a + b, 0);
  const valued = (reward: string): Annotate =>
    criticAdvantages({
      critic: reward,
      rewards: [reward],
      discount: discounts[reward] ?? 0.99,
      passes: 1,
      note: `${reward}.advantage`,
    });
  const all = <T>(of: (name: string) => T): Record<string, T> =>
    Object.fromEntries(names.map((name) => [name, of(name)]));
  const criticOf = (reward: string) =>
    expectileCritic({ expectile: 0.5, discount: discounts[reward] ?? 0.99, learningRate: 0.05 });
  const stageOne = names.map(
    (name, i): Phase => ({
      name: `constraint ${name}`,
      from: i * iterations,
      until: (i + 1) * iterations,
      slots: {
        annotate: [main, ...names].map(valued),
        feedback: fromAnnotation({ note: `${name}.advantage` }),
        credit: perTurn(),
        advantage: returnsToGo({ discount: 0, baseline: "none" }),
        objective: policyGradient({ model: name, importance: { low: 1, high: most - 1 } }),
        update: minibatches({ step: { optimiser: "sgd", learningRate: auxiliaryRate } }),
      },
    }),
  );
  return method({
    id: "tscac",
    family: "user-feedback",
    summary:
      "maximises one reward near the policies of auxiliary rewards: two stages, closed form, from logs",
    paper: "Two-Stage Constrained Actor-Critic for Short Video Recommendation",
    mechanism:
      "One kind of feedback, such as watch time, is maximised, while rarer ones such as likes must not fall. First, each auxiliary reward gets its own policy and critic, trained on logs. Then the main reward is maximised subject to a KL constraint to each of these policies. That problem has a closed form, the product of the policies times the exponentiated main advantage, to which a policy is fitted by weighted likelihood of logged actions; no multiplier is searched online.",
    equation: [
      "stage 1:  max E_b[sg(min(π_i/π_b, 10)) · A_i · ln π_i]                       for each auxiliary i",
      "stage 2:  max E[A_1] subject to KL(π ‖ π_i) ≤ ε_i   ⇒   π*(a|s) ∝ Π_i π_i(a|s)^(λ_i/Λ) · exp(A_1(s, a)/Λ),   Λ = Σ λ_i",
      "loss = −E_b[w · ln π],   w = min(Π_i (π_i/max(π_b, 0.01))^(λ_i/Λ) · exp(A_1/Λ) / Z(s), 10)",
      "A_i = Q_i − V_i, an expectation; Z(s): mean weight of the state's group; π_b: the policy that logged",
    ].join("\n"),
    source:
      "stages and closed form from the paper; the exponents, the normaliser per state, floor, cap, tabular critics, λ and numbers of iterations are ours. The authors' code multiplies by π_i without dividing by π_b and normalises over the batch; here the paper's formula is implemented instead. Logs are sampled anew by the initial policy",
    frozen: { logger: {} },
    models: all(() => ({ from: "policy" as const })),
    helpers: { [main]: criticOf(main), ...all(criticOf) },
    slots: ({ groupSize, temperature: sampling }) => ({
      rollout: multiTurn({ groupSize, temperature: sampling, models: { agent: "logger" } }),
      annotate: [
        options.advantage ?? valued(main),
        ...names.map((name) => logRatios({ of: { model: name }, floor })),
      ],
      feedback: [],
      advantage: exponentialWeights({
        note: `${main}.advantage`,
        beta: 1 / temperature,
        tilts: Object.fromEntries(names.map((name) => [`${name}.ratio`, auxiliaries[name]! / temperature])),
        scale: "group",
        most,
      }),
      objective: policyGradient({ model: "policy" }),
    }),
    phases: stageOne,
  });
}

export const tscac = tscacWith();
