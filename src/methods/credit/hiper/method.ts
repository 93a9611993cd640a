import { values } from "../../../annotate/values.ts";
import { perTurn } from "../../../credit/perTurn.ts";
import { turnRewards } from "../../../feedback/turnRewards.ts";
import { method } from "../../../method/method.ts";
import { clippedRatio } from "../../../objective/clippedRatio.ts";
import { valueRegression } from "../../../objective/valueRegression.ts";
import { type BlocksOptions, blocks } from "./blocks.ts";
import { type HierarchicalOptions, hierarchical, hierarchyBlocks, hierarchyHeads } from "./hierarchical.ts";

/** HiPER for environments whose actions are not written with tags. */
export const hiperWith = (form: Pick<BlocksOptions, "find"> & Pick<HierarchicalOptions, "switched"> = {}) => {
  const { find, switched } = form;
  return method({
    id: "hiper",
    family: "credit",
    summary:
      "credits sub-goals, actions and switches of sub-goal over their own horizons, with a value head each",
    paper:
      "HiPER: Hierarchical Reinforcement Learning with Explicit Credit Assignment for Large Language Model Agents",
    mechanism:
      "Each turn states whether the sub-goal is kept or given up, the sub-goal, and the action. Action tokens are credited within their segment, which bootstraps from the high-level value of the next segment; sub-goal tokens are credited over segments, as steps of different lengths; the decision to switch is credited by the rest of the segment's return. Failures in a later segment therefore do not affect the credit of an earlier segment's actions.",
    equation: [
      "low:  A[t] = δ[t] + γ λ A[t+1] within the segment, bootstrapped by V_high of the next one",
      "high: A[k] = R[k] + γ^d V_high[k+1] − V_high[k] + γ^d λ A[k+1]        over segments of d turns",
      "term: A[t] = Σ_j γ^j r[t+j] + γ^(…) V_high[next] − V_term[t]          within the segment",
      "each normalised over its own turns; critic: three heads with targets A + V",
    ].join("\n"),
    source:
      "advantages, positions of the values and λ from the paper's code; γ = 1 and the critic's step size as in turn-ppo (ours); its penalties on keeping and on malformed actions are left to the environment",
    baseline: "turn-ppo",
    models: { critic: { from: "fresh", heads: [...hierarchyHeads] } },
    needs: ["heads"],
    defaults: { criticRate: 2 },
    slots: (s) => ({
      annotate: [
        values({ heads: hierarchyHeads }),
        blocks({ names: hierarchyBlocks, ...(find && { find }) }),
      ],
      feedback: turnRewards({ unpaid: "zero" }),
      credit: perTurn(),
      advantage: hierarchical(switched ? { switched } : {}),
      objective: [
        clippedRatio({ clip: { low: s.clipLow, high: s.clipHigh } }),
        ...hierarchyHeads.map((head) => valueRegression({ head, column: `return.${head}` })),
      ],
    }),
  });
};

export const hiper = hiperWith();
