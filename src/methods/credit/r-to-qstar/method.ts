import { diagnostic } from "../../../method/entry.ts";

export const rToQstar = diagnostic({
  id: "r-to-qstar",
  family: "credit",
  summary:
    "a preference-tuned policy is a Q-function: its log-ratios to the reference assign credit to tokens",
  paper: "From r to Q*: Your Language Model is Secretly a Q-Function",
  law: "At each token, β times the log-ratio of the tuned policy to its reference is the reward shaped by the optimal value, not the reward itself.",
  mechanism:
    "In the decision process whose states are prefixes and whose actions are tokens, the policy of highest reward near a reference is the softmax of an optimal Q-function. Direct preference optimisation sees only whole answers, yet yields credit for every token: low credit marks where an answer went wrong. Searching for the most likely answer is searching for the best one. And since the mean log-ratio over samples of the reference is minus a KL divergence, even preferred answers become less likely than at the start once the policy has moved away from the reference.",
  equation: [
    "β ln π*(a|s)/π_ref(a|s) = r(s, a) + V*(s') − V*(s)        V*(s) = β ln Σ_a π_ref(a|s) exp((r + V*(s'))/β)",
    "Σ over an answer = Σ r − V*(first state), which cancels between answers to one prompt",
    "L_DPO = −ln σ(Σ_winner c − Σ_loser c),   c = β ln π/π_ref",
    "E_ref[ln π/π_ref] = −KL(π_ref ‖ π) ≤ 0",
  ].join("\n"),
  source: "identities from the paper, derived anew and tested; sizes of the check ours",
});
