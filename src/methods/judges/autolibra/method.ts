import { method } from "../../../method/method.ts";
import { commentMetrics } from "./commentMetrics.ts";

export const autolibra = method({
  id: "autolibra",
  family: "judges",
  summary: "induces metrics from comments in words, and rates attempts by those that apply",
  paper: "AutoLibra: Agent Metric Induction from Open-Ended Feedback",
  mechanism:
    "People comment on what an agent did. Each comment is tied to a behaviour and is praise or blame. Comments are clustered into a few metrics, each with good and bad examples, and attempts are rated by the metrics that apply to them. A set of metrics is itself measured: how many comments that it was not made from it explains, and how much it says that nobody said.",
  equation: [
    "aspect = (behaviour, what was said, ±1);   metrics: clusters of aspects by meaning, signs mixed",
    "r = mean of ±1 over the metrics that apply to an attempt",
    "coverage = held-out aspects with a trait of their metric and sign / all of them",
    "redundancy = traits that explain no aspect / all traits",
  ].join("\n"),
  source:
    "aspects, matching by sign, coverage and redundancy from the paper's repository; k-means on embeddings in place of clustering by a language model, similarity to examples in place of a judge, the environment's critiques as comments and the rating as a reward, in place of tuning prompts or choosing data, are ours. Left out: N is given, and not chosen by coverage and redundancy; comments that no metric explains begin no further round; an aspect belongs to the nearest metric, and never to none",
  options: {
    metrics: { help: "N, metrics", default: 8, low: 1, high: 1000, whole: true },
    comments: {
      help: "attempts commented on in an iteration",
      default: 16,
      low: 1,
      high: 10_000,
      whole: true,
    },
    least: { help: "least cosine of two behaviours that are the same", default: 0.6, low: 0, high: 1 },
  },
  slots: (_s, { metrics, comments, least }) => ({
    feedback: commentMetrics({ metrics, comments, least }),
  }),
});
