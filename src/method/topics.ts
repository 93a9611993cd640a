/** What users ask a catalogue of methods for: their words, the words of papers, and the entries that are about it. */
import { type CatalogueEntry, needsOf } from "./entry.ts";

export interface Topic {
  /** Words and phrases of users. "no x" stands for every way of saying that there is none. */
  readonly asked: readonly string[];
  /** Words of papers, which are searched as well. */
  readonly means: readonly string[];
  /** Entries that are about the topic by what they declare, whatever their texts say. */
  readonly about?: { readonly holds: (entry: CatalogueEntry) => boolean; readonly why: string };
}

const inFamily =
  (family: string) =>
  (entry: CatalogueEntry): boolean =>
    entry.family === family;

/** @param group whether it compares replies to one prompt; undefined: either. */
const learnsFrom =
  (kind: "pair" | "rating" | "demonstration", group?: "task") =>
  (entry: CatalogueEntry): boolean =>
    entry.kind === "method" &&
    entry.learnsFrom?.kind === kind &&
    (kind !== "rating" || entry.learnsFrom.group === group);

export const topics: readonly Topic[] = [
  {
    asked: [
      "thumb",
      "like",
      "dislike",
      "reaction",
      "star",
      "heart",
      "upvote",
      "click",
      "satisfaction",
      "satisfied",
    ],
    means: ["user", "reaction", "satisfied", "feedback"],
    about: {
      holds: inFamily("user-feedback"),
      why: "learns from users: reactions, ratings, what they say next",
    },
  },
  {
    asked: ["thumb", "like", "dislike", "no pair", "unpaired", "binary label", "good or bad", "single label"],
    means: ["desirable", "single attempts"],
    about: { holds: learnsFrom("rating"), why: "learns from single labels, good or bad, without pairs" },
  },
  {
    asked: [
      "pair",
      "prefer",
      "preference",
      "better of",
      "compare",
      "comparison",
      "ranking",
      "chose",
      "chosen",
      "a/b",
      "dpo",
    ],
    means: ["preference", "pair", "preferred"],
    about: { holds: learnsFrom("pair"), why: "learns from pairs: one reply preferred to another" },
  },
  {
    asked: [
      "demonstration",
      "expert",
      "imitate",
      "imitation",
      "supervised",
      "sft",
      "example solution",
      "human solution",
      "labelled answer",
    ],
    means: ["imitates", "expert", "demonstration", "supervised"],
    about: { holds: learnsFrom("demonstration"), why: "learns from demonstrations" },
  },
  {
    asked: [
      "no gpu",
      "no training",
      "no weight",
      "no fine-tuning",
      "api",
      "hosted",
      "closed",
      "black box",
      "frozen",
      "prompt",
      "instruction",
      "few-shot",
    ],
    means: ["frozen", "instructions", "prompt"],
    about: {
      holds: (entry) => entry.kind === "method" && entry.weightFree === true,
      why: "changes the prompt, not the weights: a model behind an API is enough",
    },
  },
  {
    asked: [
      "credit",
      "attribution",
      "blame",
      "which step",
      "which turn",
      "responsible",
      "sparse",
      "delayed",
      "horizon",
      "multi-turn",
      "many turns",
      "process reward",
      "step reward",
    ],
    means: ["credit", "turn", "step", "return", "outcome"],
    about: {
      holds: inFamily("credit"),
      why: "gives single turns or tokens their share of an episode's outcome",
    },
  },
  {
    asked: [
      "judge",
      "reward model",
      "hack",
      "cheat",
      "exploit",
      "game the",
      "rubric",
      "grader",
      "verifier",
      "llm as a judge",
    ],
    means: ["judge", "reward model", "rubric"],
    about: { holds: inFamily("judges"), why: "is about judges and reward models" },
  },
  {
    asked: [
      "comment",
      "critique",
      "words",
      "sentence",
      "verbal",
      "natural language",
      "correct",
      "correction",
      "told",
      "advice",
      "explanation",
    ],
    means: ["critique", "feedback", "correction", "reflection"],
    about: { holds: inFamily("language-feedback"), why: "learns from feedback in words" },
  },
  {
    asked: [
      "memory",
      "remember",
      "forget",
      "lesson",
      "experience",
      "past",
      "context window",
      "context length",
      "history",
    ],
    means: ["cases", "lessons", "library", "state", "context"],
    about: {
      holds: inFamily("memory"),
      why: "learns by what it keeps beside the weights: cases, lessons, instructions",
    },
  },
  {
    asked: ["critic", "value network", "value function", "value head", "value model"],
    means: ["critic", "value", "gae"],
    about: { holds: (entry) => needsOf(entry).includes("heads"), why: "has a critic" },
  },
  {
    asked: ["no critic", "critic-free", "simple", "simplest", "minimal", "baseline"],
    means: ["baseline", "simplest", "leave-one-out"],
  },
  {
    asked: [
      "explore",
      "exploration",
      "entropy",
      "collapse",
      "diversity",
      "novelty",
      "same answer",
      "same reply",
      "repetitive",
      "stuck",
      "always gives",
      "deterministic",
    ],
    means: ["entropy", "exploration", "exploring", "diverse"],
    about: { holds: (entry) => needsOf(entry).includes("entropy"), why: "acts on the policy's entropy" },
  },
  {
    asked: [
      "hard",
      "difficult",
      "difficulty",
      "easy",
      "curriculum",
      "never solve",
      "all fail",
      "every attempt fail",
      "no gradient",
      "no success",
      "zero success",
      "no signal",
      "no spread",
    ],
    means: ["fails", "failed tasks", "difficulty", "hard", "curriculum", "gradient", "spread", "unaided"],
    about: {
      holds: inFamily("curriculum"),
      why: "is about what to train on next, and with how much help",
    },
  },
  {
    asked: [
      "off-policy",
      "unstable",
      "instability",
      "diverge",
      "stale",
      "asynchronous",
      "mismatch",
      "several epochs",
    ],
    means: ["importance", "ratio", "clip", "stable", "off-policy", "staleness"],
  },
  {
    asked: [
      "log",
      "offline",
      "historical",
      "replay",
      "old data",
      "existing data",
      "no new episode",
      "recorded",
    ],
    means: ["offline", "logged", "logs", "replay", "observational"],
  },
  {
    asked: ["cyclic", "cycle", "opponent", "self-play", "nash", "equilibrium", "no best", "rock paper"],
    means: ["cyclic", "nash", "game", "self-play", "mixture"],
  },
  {
    asked: ["longer", "verbose", "verbosity", "length", "too long", "brevity"],
    means: ["length", "longer", "length penalty"],
  },
  {
    asked: [
      "subgoal",
      "subtask",
      "subproblem",
      "hierarchy",
      "hierarchical",
      "decompose",
      "plan",
      "break",
      "milestone",
      "option",
    ],
    means: ["subgoal", "subproblem", "segment", "hierarchical"],
  },
  {
    asked: [
      "ask",
      "clarify",
      "clarification",
      "unclear",
      "ambiguous",
      "vague",
      "missing information",
      "intent",
    ],
    means: ["asks", "question", "missing", "intent", "uncover"],
  },
  {
    asked: ["personal", "personalise", "personalize", "individual", "taste", "different user", "each user"],
    means: ["taste", "latent", "each user"],
  },
  { asked: ["tool", "function call", "tool call"], means: ["tool", "call", "tools"] },
  {
    asked: ["search", "retrieval", "retrieve", "rag", "document", "look up", "query"],
    means: ["search", "document", "ranker", "query"],
  },
  {
    asked: ["web", "browser", "app", "gui", "screen", "site"],
    means: ["web", "app", "screen", "site", "page"],
  },
  {
    asked: [
      "again",
      "retry",
      "second attempt",
      "second chance",
      "revise",
      "fix",
      "self-correct",
      "own mistake",
      "mistake",
    ],
    means: ["retry", "revise", "corrected", "correction", "wrong", "mistake"],
  },
  {
    asked: ["keep only", "filter", "select", "best sample", "good sample", "success only", "best of"],
    means: ["imitates", "successes", "ranked", "rejection", "best"],
  },
  {
    asked: ["slow environment", "expensive", "costly", "simulator", "few episode", "sample efficiency"],
    means: ["expensive", "model of the environment", "simulated", "real steps", "passes"],
  },
  {
    asked: ["turned out", "later", "consequence", "in hindsight", "regret", "in the long run", "weeks"],
    means: ["hindsight", "consequences", "later"],
  },
  {
    asked: [
      "bias",
      "biased",
      "self-selection",
      "only from those",
      "missing feedback",
      "silent",
      "noisy label",
      "noise",
    ],
    means: ["bias", "selection", "propensity", "noise"],
  },
  {
    asked: ["conflict", "several rewards", "many rewards", "trade-off", "multi-objective", "constraint"],
    means: ["auxiliary", "constrained", "weights", "rewards", "each standardised"],
  },
  {
    asked: [
      "no verifier",
      "no label",
      "no reward",
      "no reference",
      "no ground truth",
      "no answer",
      "unlabelled",
      "unsupervised",
    ],
    means: ["no verifier", "without labels", "confidence", "clustered"],
  },
  {
    asked: [
      "everything else",
      "side effect",
      "overgeneralise",
      "overgeneralize",
      "unrelated",
      "scope",
      "forgetting",
    ],
    means: ["scope", "unrelated", "preserved", "behaviour", "overgeneralization"],
  },
  { asked: ["variance", "noisy gradient"], means: ["variance", "leave-one-out", "baseline"] },
];
