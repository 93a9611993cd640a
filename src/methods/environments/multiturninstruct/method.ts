import { benchmark } from "../../../method/entry.ts";

export const multiturninstruct = benchmark({
  id: "multiturninstruct",
  family: "environments",
  summary:
    "a benchmark of persistent, overlapping and conflicting instructions; memory is measured separately",
  paper: "Can Language Models Follow Multiple Turns of Entangled Instructions?",
  suite: "multiturninstruct",
  law: "The gap between memory and success on conflicting instructions is larger for a player that does not resolve conflicts than for one that forgets, as long as what it forgets does not depend on what is asked back.",
  mechanism:
    "Conversations give instructions with a scope and a priority, and every reply is checked against those that are active at its turn; of conflicting ones, against the one that takes precedence. Three levels test retrieval, tracking and combining, and resolving conflicts (privacy, preference, priority). Asking for an instruction verbatim measures memory separately, so a failure can be attributed to forgetting or to not following a remembered instruction (environment entangledInstructions, suite multiturninstruct of whetstone eval).",
  equation: [
    "L_k = mean over conversations of level k of 1[every active instruction followed at every turn]",
    "active(t): given before t; of conflicting ones the higher priority, then the later; an exception once",
    "memory = BLEU-2(line recalled, line given)        privacy = 1 − leaks / unauthorised questions",
    "gap = memory − L_k                                  reported for level 2; the check's for level 3",
  ].join("\n"),
  source:
    "levels, categories and the pair of memory and privacy from the paper's abstract; the scoring rules and the conversations of the nine categories are ours",
});
