import { diagnostic } from "../../../method/method.ts";

export const multiturninstruct = diagnostic({
  id: "multiturninstruct",
  family: "environments",
  summary:
    "a benchmark of instructions that hold on, overlap and conflict, with memory apart from integration",
  paper: "Can Language Models Follow Multiple Turns of Entangled Instructions?",
  law: "What is remembered and yet not acted upon, memory less success where instructions conflict, tells an agent that resolves no conflicts from one that forgets.",
  mechanism:
    "Conversations give instructions with a scope and a priority, and every reply is checked against those that are active at its turn, of conflicting ones against the one that counts. Three levels ask to retrieve, to keep track and combine, and to resolve conflicts (privacy, preference, priority). An instruction asked back word for word measures memory by itself, so that a failure can be laid to forgetting or to not acting on what is known (environment entangledInstructions, suite multiturninstruct of whetstone eval).",
  equation: [
    "L_k = mean over conversations of level k of 1[every active instruction followed at every turn]",
    "active(t): given before t; of conflicting ones the higher priority, then the later; an exception once",
    "memory = BLEU-2(line asked back, line given)        privacy = 1 − leaks / unauthorised questions",
    "gap = memory − L_k                                  reported for level 2; the check's for level 3",
  ].join("\n"),
  source:
    "levels, categories and the pair of memory and privacy from the paper's abstract; rules of scoring, the nine categories' conversations and their words are ours",
});
