import { method, type Recipe } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { caseWords, rememberCases, type WithCasesOptions, withCases } from "./caseMemory.ts";
import { caseValue } from "./caseValue.ts";

export function agentflyMementoWith(options: WithCasesOptions = {}): Recipe {
  return method({
    id: "agentfly-memento",
    family: "memory",
    summary: "keeps the model frozen and learns which past cases to retrieve into its prompt",
    paper: "AgentFly: Fine-tuning LLM Agents without Fine-tuning LLMs",
    mechanism:
      "After every episode the task, the actions and the success are stored as a case. Before the next episode a few cases are put into the prompt, successes and failures in separate sections. Only the selection is learnt: the probability of success given a case shown in a situation is fitted to the outcomes of all cases ever shown, which separates helpful cases from merely similar ones.",
    equation: [
      "π(a | s, M) = Σ_{c ∈ M} μ(c | s, M) p(a | s, c)          p: the frozen model, M: the cases",
      "μ(c | s, M) ∝ exp(Q(s, c) / α)                            K cases, without replacement; α = 0.02",
      "Q(s, c) = P(success | s, c shown),  loss −r ln Q − (1 − r) ln(1 − Q)     over every case of every episode",
    ].join("\n"),
    source:
      "the single-step form of Q, the two sections and crediting every shown case from the paper's code; K = 4, which the paper finds sufficient. Q is logistic in shared words and a cosine, in place of a network over sentence vectors; sampling at temperature α is the paper's maximum-entropy policy, the value of α is ours; one episode per task, judged by the environment. Left out: the planner and executor, which belong to an environment",
    says: caseWords,
    defaults: { groupSize: 1 },
    helpers: { retriever: caseValue() },
    slots: ({ groupSize, temperature }) => ({
      rollout: withCases(multiTurn({ groupSize, temperature }), options),
      advantage: [],
      update: rememberCases(options.by === "cosine" ? { helper: undefined } : {}),
    }),
  });
}

export const agentflyMemento = agentflyMementoWith();
