import { method, type Recipe } from "../../../method/method.ts";
import { multiTurn } from "../../../rollout/multiTurn.ts";
import { caseWords, rememberCases, type WithCasesOptions, withCases } from "./caseMemory.ts";
import { caseValue } from "./caseValue.ts";

export function agentflyMementoWith(options: WithCasesOptions = {}): Recipe {
  return method({
    id: "agentfly-memento",
    family: "memory",
    summary: "keeps the model frozen and learns which earlier cases to show it",
    paper: "AgentFly: Fine-tuning LLM Agents without Fine-tuning LLMs",
    mechanism:
      "After every episode what was asked, what was done and whether it went well are written down as a case. Before the next one a few cases are shown, those that went well apart from those that went badly. Which ones is the only thing that is learnt: the chance of success after showing a case in a situation is fitted to what came of all the cases ever shown, so that what merely looks alike is told from what helps.",
    equation: [
      "π(a | s, M) = Σ_{c ∈ M} μ(c | s, M) p(a | s, c)          p: the frozen model, M: the cases",
      "μ(c | s, M) ∝ exp(Q(s, c) / α)                            K cases, without replacement; α = 0.02",
      "Q(s, c) = P(success | s, c shown),  loss −r ln Q − (1 − r) ln(1 − Q)     over every case of every episode",
    ].join("\n"),
    source:
      "the single-step form of Q, the two sections and crediting every shown case from the paper's code; K = 4 as it finds enough. Q is logistic in shared words and a cosine in place of a network over sentence vectors, drawing at temperature α is its maximum-entropy policy, α is ours; one episode a task, and the environment judges. Left out: the planner and executor, which are an environment's affair",
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
