import { diagnostic } from "../../../method/method.ts";

export const rToQstar = diagnostic({
  id: "r-to-qstar",
  family: "credit",
  summary: "a policy tuned on preferences is a Q-function: its log-ratios are credits for single tokens",
  paper: "From r to Q*: Your Language Model is Secretly a Q-Function",
  law: "At each token, β times the log-ratio of the tuned policy to its reference is the reward shaped by the optimal value, not the reward itself.",
  mechanism:
    "In the decision process whose states are prefixes and whose actions are tokens, the policy of highest reward near a reference is the softmax of an optimal Q-function. So direct preference optimisation, which sees whole answers only, yields credit for every token: where it assigns a low one, something went wrong. Search for the likeliest answer is search for the best one. And since the mean log-ratio over what the reference writes is minus a divergence, even winners become less likely than at the start, once the policy has left it.",
  equation: [
    "β ln π*(a|s)/π_ref(a|s) = r(s, a) + V*(s') − V*(s)        V*(s) = β ln Σ_a π_ref(a|s) exp((r + V*(s'))/β)",
    "Σ over an answer = Σ r − V*(first state), which cancels between answers to one prompt",
    "L_DPO = −ln σ(Σ_winner c − Σ_loser c),   c = β ln π/π_ref",
    "E_ref[ln π/π_ref] = −KL(π_ref ‖ π) ≤ 0",
  ].join("\n"),
  source: "identities from the paper, derived anew and tested; sizes of the check ours",
});
