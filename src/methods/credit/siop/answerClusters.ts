import { type Asked, answerLikelihoods } from "../../../annotate/likelihoods.ts";
import { mapById } from "../../../common/mapById.ts";
import type { Annotate } from "../../../core/slots.ts";
import type { Id, Task, Trajectory } from "../../../core/types.ts";

/** Settings of {@link answerClusters}. */
export interface AnswerClustersOptions {
  /** The final answer of an attempt, if any. Default: the text after `opening` in its last action. */
  readonly answerOf?: (t: Trajectory) => string | undefined;
  /** Whether two answers are equivalent. Default: equal up to case and blanks. */
  readonly same?: (a: string, b: string) => boolean;
  /** How well an observation supports an answer, in [0, 1]. Default: 1 if it contains the answer verbatim. */
  readonly supports?: (observation: string, answer: string) => number;
  /** η: weight of the observations' support relative to the cluster's size. Default 1. */
  readonly support?: number;
  /** How an answer begins in the environment's language. Default "answer". */
  readonly opening?: string;
  /** Most different wordings of a cluster whose likelihoods are averaged. Default 3. */
  readonly references?: number;
  /** Frozen model that scores likelihoods; a policy that scored itself would confirm itself. Default: no likelihoods. */
  readonly scorer?: string;
}

/** The notes of {@link answerClusters}. */
export const clusterNotes = {
  /** Rank of the attempt's cluster by size, 0 the largest (ties: the earlier one), [1]. */
  rank: "cluster.rank",
  /** The cluster's share of the answers of its group, [1]. */
  share: "cluster.share",
  /** The cluster's confidence q, [1]. */
  trust: "cluster.trust",
  /** Likelihood of the cluster's answers under the scorer before each turn, [turns]. */
  likelihood: "cluster.likelihood",
} as const;

/**
 * Clusters the equivalent answers of a group's attempts, as unverified outcomes:
 *
 *     share m[c] = answers in c / answers of the group
 *     support r[c] = mean over c's attempts with observations of their mean support of c's answer, 0 without any
 *     trust q[c] = m[c] exp(η r[c]) / Σ_c′ m[c′] exp(η r[c′])
 *
 * With a scorer also the likelihood, before each turn, of the wordings of the attempt's own cluster: the mean over them
 * of the geometric mean of their tokens' probabilities. Attempts without an answer, and failed ones, get no notes.
 * Paper: "Self-Induced Outcome Potential: Turn-Level Credit Assignment for Agents without Verifiers".
 */
export function answerClusters(options: AnswerClustersOptions = {}): Annotate {
  const { opening = "answer", same = alike, supports = contains, support = 1, references = 3 } = options;
  const { answerOf = (t: Trajectory) => answerAfter(opening, t) } = options;
  return async (ctx, { trajectories, units }) => {
    const byId = mapById(trajectories);
    const rank = new Map<Id, Float32Array>();
    const share = new Map<Id, Float32Array>();
    const trust = new Map<Id, Float32Array>();
    const asked: Asked[] = [];
    for (const members of Map.groupBy(units, (u) => u.group).values()) {
      const answered = members
        .flatMap((u) => u.members.map((id) => byId.get(id)))
        .flatMap((t) => {
          const answer = t && t.end.kind !== "failed" ? answerOf(t) : undefined;
          return t && answer !== undefined ? [{ t, answer }] : [];
        });
      const clusters: (typeof answered)[] = [];
      for (const one of answered) {
        const own = clusters.find((c) => same(c[0]!.answer, one.answer));
        if (own) own.push(one);
        else clusters.push([one]);
      }
      clusters.sort((a, b) => b.length - a.length);
      const weights = clusters.map((cluster) => {
        const text = cluster[0]!.answer;
        const scores = cluster.flatMap(({ t }) => {
          const seen = observations(ctx.task(t.task), t);
          return seen.length === 0 ? [] : [average(seen.map((o) => supports(o, text)))];
        });
        return (cluster.length / answered.length) * Math.exp(support * average(scores));
      });
      const total = weights.reduce((a, b) => a + b, 0);
      clusters.forEach((cluster, c) => {
        const answers = [...new Set(cluster.map(({ answer }) => answer))].slice(0, references);
        for (const { t } of cluster) {
          rank.set(t.id, Float32Array.of(c));
          share.set(t.id, Float32Array.of(cluster.length / answered.length));
          trust.set(t.id, Float32Array.of(weights[c]! / total));
          asked.push({ trajectory: t, answers });
        }
      });
    }
    const { scorer } = options;
    return {
      [clusterNotes.rank]: rank,
      [clusterNotes.share]: share,
      [clusterNotes.trust]: trust,
      ...(scorer !== undefined && {
        [clusterNotes.likelihood]: await answerLikelihoods(
          ctx.frozen(scorer),
          asked,
          opening,
          ctx.model().contextTokens,
        ),
      }),
    };
  };
}

/** The mean; 0 of an empty list. */
const average = (xs: readonly number[]): number => xs.reduce((sum, x) => sum + x / xs.length, 0);

const tidy = (text: string): string => text.trim().toLowerCase().replace(/\s+/g, " ");
const alike = (a: string, b: string): boolean => tidy(a) === tidy(b);
const contains = (observation: string, answer: string): number =>
  ` ${tidy(observation)} `.includes(` ${tidy(answer)} `) ? 1 : 0;

function answerAfter(opening: string, t: Trajectory): string | undefined {
  const last = t.turns.at(-1)?.action.content.trim() ?? "";
  const answer = last.startsWith(opening) ? last.slice(opening.length).trim() : "";
  return answer === "" ? undefined : answer;
}

/** The environment's messages to the agent before its last action, without the task. */
const observations = (task: Task, t: Trajectory): string[] =>
  (t.turns.at(-1)?.prompt.slice(task.prompt.length) ?? []).flatMap((m) =>
    m.role === "user" || m.role === "tool" ? [m.content] : [],
  );
