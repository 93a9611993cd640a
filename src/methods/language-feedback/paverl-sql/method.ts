import { method } from "../../../method/method.ts";
import { partialMatch } from "./partialMatch.ts";

export const paverlSql = method({
  id: "paverl-sql",
  family: "language-feedback",
  summary: "pays a query for the share of the wanted table that it reproduces, not only for all of it",
  paper: "PaVeRL-SQL: Text-to-SQL via Partial-Match Rewards and Verbal Reinforcement Learning",
  mechanism:
    "Every sampled query is executed and its table compared with the one wanted. What counts is the share of cells that come back, columns and rows in any order, so that a query that is nearly right earns something while none is quite right yet, and the group's deviation is over that. One that runs and brings back nothing of use earns a little, one that does not run earns nothing.",
  equation: [
    "match = (rows_ok · columns_ok) / (rows · columns)     of the wanted table (cellMatch)",
    "R = 0 where the query does not run, else max(0.5, 10 · match)",
    "A = (R − mean R) / std R                              over the group",
  ].join("\n"),
  source:
    "Comparator, 0.5 and 10 from the paper's code; the larger of the two where 10 · match falls below 0.5 (ours; the paper pays 10 · match there). Left out: the penalty towards the first policy, and the second stage, which is a second run from the best checkpoint that a run keeps by validation; so is the paper's other half, a pipeline of prompts that trains nothing",
  defaults: { schedule: "cosine" },
  slots: { feedback: [partialMatch()] },
});
