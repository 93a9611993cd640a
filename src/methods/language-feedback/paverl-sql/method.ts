import { method } from "../../../method/method.ts";
import { partialMatch } from "./partialMatch.ts";

export const paverlSql = method({
  id: "paverl-sql",
  family: "language-feedback",
  summary: "rewards a query by the share of the expected table that it reproduces",
  paper: "PaVeRL-SQL: Text-to-SQL via Partial-Match Rewards and Verbal Reinforcement Learning",
  mechanism:
    "Every sampled query is executed and its table compared with the expected one. The reward is the share of matching cells, with columns and rows in any order, so a nearly correct query earns partial reward and groups without a correct query still have spread. A query that runs without any match earns a little; one that does not run earns nothing.",
  equation: [
    "match = (rows_ok · columns_ok) / (rows · columns)     of the expected table (cellMatch)",
    "R = 0 where the query does not run, else max(0.5, 10 · match)",
    "A = (R − mean R) / std R                              over the group",
  ].join("\n"),
  source:
    "Comparator, 0.5 and 10 from the paper's code; the larger of the two where 10 · match falls below 0.5 (ours; the paper pays 10 · match there). Left out: the KL penalty towards the initial policy; the second stage, which is a second run from the checkpoint with the best validation score; and the paper's other half, a prompt pipeline without training",
  defaults: { schedule: "cosine" },
  slots: { feedback: [partialMatch()] },
});
