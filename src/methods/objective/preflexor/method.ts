import { constant } from "../../../advantage/constant.ts";
import { outcomePairs } from "../../../advantage/outcomePairs.ts";
import { method } from "../../../method/method.ts";
import { pairwise } from "../../../objective/pairwise.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { withSpans } from "./withSpans.ts";

export const preflexor = method({
  id: "preflexor",
  family: "objective",
  summary: "preference optimisation on answers only: thoughts stay in the context and out of the loss",
  paper:
    "PRefLexOR: Preference-based Recursive Language Modeling for Exploratory Optimization of Reasoning and Agentic Thinking",
  mechanism:
    "Pairs of a right and a wrong reply are sampled from the current policy. Their log-probabilities leave out everything up to the end of the thought, which is only context: the policy learns to answer correctly after any thought, and no style of thinking is reinforced because it happened to precede a right answer.",
  equation: [
    "Δ(y) = Σ_t m[t] · (ln π(y_t) − ln ref(y_t))          m[t] = 0 up to the end of the last thought, 1 after it",
    "u = β (Δ(chosen) − Δ(rejected)),   q = σ(u)          β = 0.1, ε = 0.001",
    "loss = mean over pairs of q ln(q / (1 − ε)) + (1 − q) ln((1 − q) / ε)",
  ].join("\n"),
  source:
    "masks and fresh pairs from the paper's code, the loss from the optimiser that it uses (EXO), β and ε ours; the paper's first phase, which teaches the format of thoughts, is left to a warm start. Left out: its recursive inference, in which a critic reflects on thought and answer and the answer is written anew several times; replies are sampled once",
  frozen: { reference: {} },
  learnsFrom: { kind: "rating", group: "task" },
  slots: (s) => ({
    rollout: withSpans(multiTurn({ groupSize: s.groupSize, temperature: s.temperature }), {
      name: "thought",
      open: "think",
      close: "so",
      cover: "before",
      markers: true,
    }),
    advantage: [constant(), outcomePairs({ without: ["thought"] })],
    objective: pairwise({ loss: "reverseKl" }),
  }),
});
