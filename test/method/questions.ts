/**
 * Questions to the search of the catalogue, as a user asks them, each with the answers that may come first: methods, or any of a
 * family. They were written before the search that is tested with them. Where a question stands decides what it is for: the search
 * was improved with the even ones (0, 2, …), and the odd ones say what that is worth.
 */
export interface Question {
  readonly ask: string;
  readonly first: readonly string[];
}

const credit = "family:credit";
const users = "family:user-feedback";
const judges = "family:judges";
const withoutWeights = [
  "gepa",
  "bootstrap-few-shot",
  "best-of-n",
  "agentfly-memento",
  "portal",
  "directional-stimulus",
];
const exploring = ["epo", "entropy-mechanism", "aem", "t1-rl-scaling", "a-grae", "dapo", "cispo"];
const imitating = [
  "sft",
  "ahpo",
  "visurf",
  "seppo",
  "int-intervention",
  "lmrl-gym",
  "rejection-sampling",
  "raft",
];
const games = ["nash-md", "nash-mirror-prox", "inpo", "srpo-self-improving"];
const judged = ["rewardharness", "plan-rewardbench", "ppr-renorm", "opagent", judges];
const pairs = ["dpo", "ipo", "cpl", "inpo", "preflexor", "oprl", "srpo-self-improving", "seppo", "nash-md"];

export const questions: readonly Question[] = [
  { ask: "my users give thumbs", first: [users, "kto"] },
  { ask: "no GPU, only an API", first: withoutWeights },
  { ask: "sparse reward, long horizon", first: [credit, "odysseus", "epo", "loop"] },
  { ask: "model games the judge", first: [...judged, "rlhs", "rluf"] },
  { ask: "which step of the episode was the mistake", first: [credit, "r3l"] },
  { ask: "the policy always gives the same answer", first: exploring },
  { ask: "I only have likes and dislikes, no pairs", first: ["kto", users] },
  { ask: "people chose the better of two replies", first: [...pairs, "vpl"] },
  {
    ask: "every attempt fails, so there is no gradient",
    first: [
      "ghpo-hints",
      "cog-drift",
      "critique-grpo",
      "agent-rlvr",
      "ahpo",
      "visurf",
      "int-intervention",
      "scrl-subproblem-curriculum",
      "rltf",
      "ariadne-mazes",
      "dapo",
      "igpo",
      "infopo",
      "opagent",
    ],
  },
  { ask: "learn from demonstrations of an expert", first: imitating },
  { ask: "I have no verifier and no labels", first: ["siop", "flr", "nous", judges] },
  {
    ask: "improve the prompt without training",
    first: ["gepa", "bootstrap-few-shot", "inspo", "portal", "agentfly-memento"],
  },
  {
    ask: "users correct the agent in words",
    first: ["yay-robot", "rlvf-c3po", "sdpo", "distil", "rl2f", "family:language-feedback"],
  },
  { ask: "tool calls fail and are repeated", first: ["cleaner", "matchtir", "openagi-rltf"] },
  { ask: "the agent should ask when something is unclear", first: ["speakrl", "nous", "infopo"] },
  { ask: "answers get longer and longer", first: ["dr-grpo", "dapo", "t1-rl-scaling", "gspo"] },
  { ask: "different users want different things", first: ["vpl"] },
  {
    ask: "train from logs, without new episodes",
    first: ["lmrl-gym", "tscac", "causalrm", "rluf", "archer", "cpl", "dpo"],
  },
  { ask: "context window overflows in long tasks", first: ["mem1"] },
  { ask: "feedback only from those who are very happy or angry", first: ["causalrm", "rluf"] },
  {
    ask: "training is unstable off-policy",
    first: ["minirl", "gspo", "cispo", "ppo", "dapo", "seeupo", "archer"],
  },
  {
    ask: "tasks are too hard at first",
    first: [
      "ghpo-hints",
      "cog-drift",
      "ariadne-mazes",
      "scrl-subproblem-curriculum",
      "a-grae",
      "agent-rlvr",
      "dreamgym",
      "int-intervention",
      "ahpo",
    ],
  },
  { ask: "one sentence of feedback should not change everything else", first: ["rlvf-c3po"] },
  {
    ask: "the model should fix its own mistakes",
    first: [
      "score-self-correct",
      "srpo-reflection",
      "int-intervention",
      "cleaner",
      "srpo-self-improving",
      "ufo-try-again",
      "r3l",
    ],
  },
  { ask: "advice sounded good but turned out badly", first: ["rlhs"] },
  { ask: "real environment is slow and expensive", first: ["dreamgym", "archer", "loop"] },
  { ask: "remember past failures and avoid them", first: ["family:memory"] },
  { ask: "SQL queries that are nearly right", first: ["paverl-sql"] },
  { ask: "preferences are cyclic, no best answer", first: games },
  { ask: "web agent that clicks through an app", first: ["opagent", "gui-exploration-lab"] },
  {
    ask: "retrieval: the agent searches documents and the ranker is bad",
    first: ["cosearch", "reseek", "igpo"],
  },
  {
    ask: "big model is closed, train a small one beside it",
    first: ["directional-stimulus", "retroformer", "agentfly-memento"],
  },
  { ask: "is my reward model any good", first: [...judged, "causalrm"] },
  { ask: "several rewards that conflict", first: ["tscac", "rluf", "ppr-renorm"] },
  {
    ask: "simplest baseline without a critic",
    first: ["reinforce", "rloo", "grpo", "reinforce-plus-plus", "dr-grpo", "loop"],
  },
  { ask: "value network per turn", first: ["turn-ppo", "odysseus", "hiper", "archer", "ppo"] },
  { ask: "break the task into subgoals", first: ["hiper", "scrl-subproblem-curriculum"] },
  {
    ask: "try again after being told it was wrong",
    first: ["ufo-try-again", "rl2f", "agent-rlvr", "r3l", "rltf"],
  },
  {
    ask: "keep only the good samples and fine-tune on them",
    first: ["rejection-sampling", "raft", "bootstrap-few-shot"],
  },
  { ask: "write natural-language lessons from episodes", first: ["slea-rl", "gepa", "r3l", "retroformer"] },
];
