import type { Ctx } from "../../../core/context.ts";
import type { Rollout } from "../../../core/slots.ts";
import type { Trajectory, Unit } from "../../../core/types.ts";
import { judgementOf, type Label, labels, proposalIn } from "./introspection.ts";

/** Settings of {@link selfConsistent}. */
export interface SelfConsistentOptions {
  /** Proposals of a cycle, half under each label. */
  readonly proposals: number;
  /** k, judgements of each proposed task. */
  readonly judgements: number;
  /** "label": judgements have to agree with the label of the proposal. "consensus": with each other, whatever they say. */
  readonly reward: "label" | "consensus";
  /** Whether judgements are trained too, to agree with their majority. */
  readonly judge: boolean;
  readonly temperature?: number;
}

/**
 * Reward of a proposal by its judgements; a reply that is no proposal gets 0.
 *
 *     "label"       R = 1/k #{j : v_j = label}
 *     "consensus"   R = 1/k max(#feasible, #infeasible), at least 1/2
 *
 * Judgements that are no label count in k and agree with nothing.
 */
export function agreement(
  judgements: readonly string[],
  label: Label,
  reward: SelfConsistentOptions["reward"],
): number {
  const count = (wanted: Label): number => judgements.filter((said) => said === wanted).length;
  const agreeing = reward === "label" ? count(label) : Math.max(...labels.map(count));
  return judgements.length === 0 ? 0 : agreeing / judgements.length;
}

/** The label that more judgements give; undefined for a tie. */
export function majority(judgements: readonly string[]): Label | undefined {
  const [yes, no] = labels.map((label) => judgements.filter((said) => said === label).length) as [
    number,
    number,
  ];
  return yes === no ? undefined : yes > no ? labels[0] : labels[1];
}

/**
 * A cycle of introspection: the policy proposes tasks under labels, and judges each of them k times without seeing its label.
 *
 *     (label_m, x_m) ~ π(· | propose),   v_{m,1…k} ~ π(· | judge x_m),   R_m of {@link agreement}
 *     with `judge`: reward of v_{m,j} = 1[v_{m,j} = majority_m], no unit where they tie
 *
 * The proposals of a cycle are stratified: proposals are drawn until half have each label, at most twice as many as wanted, and
 * equal ones count once, so that neither one label nor one task can take over. Proposals are one group, the judgements of a task are
 * another; the reward `agreement` replaces those of the environment. Judgements count as episodes of the run. Where
 * nothing has that label, there are fewer proposals.
 *
 * Stats: `agreement`, mean R; `true`, share of proposals whose label the environment knows to be right, which nothing learns from.
 * Paper: "KnowRL: Teaching Language Models to Know What They Know".
 */
export function selfConsistent(options: SelfConsistentOptions): Rollout {
  const { proposals, judgements, reward, judge } = options;
  return async (ctx) => {
    const task = ctx.tasks[0]!;
    const warmth = options.temperature === undefined ? {} : { temperature: options.temperature };
    const drawn = (
      await Promise.all(
        Array.from({ length: 2 * proposals }, (_, attempt) =>
          ctx.play({ task: task.id, attempt, ...warmth }),
        ),
      )
    ).flat();
    const chosen = stratified(drawn, proposals);
    const judged = await Promise.all(
      chosen.map(async ({ t, proposal }, m) => {
        const votes = proposal ? await votesOn(ctx, proposal.kind, m, judgements, warmth) : [];
        const said = votes.map(textOf);
        const value = proposal ? agreement(said, proposal.label, reward) : 0;
        const most = majority(said);
        const trained = judge && most !== undefined ? votes : [];
        return {
          value,
          proposed: paidAs(t, value),
          votes: trained.map((vote) => paidAs(vote, Number(textOf(vote) === most))),
          group: `judge ${m}`,
        };
      }),
    );
    const unit = (t: Trajectory, group: string): Unit => ({ id: t.id, group, members: [t.id] });
    const count = Math.max(1, judged.length);
    return {
      trajectories: judged.flatMap(({ proposed, votes }) => [proposed, ...votes]),
      units: judged.flatMap(({ proposed, votes, group }) => [
        unit(proposed, task.id),
        ...votes.map((vote) => unit(vote, group)),
      ]),
      stats: {
        agreement: judged.reduce((sum, { value }) => sum + value / count, 0),
        true:
          judged.filter(({ proposed: { end } }) => end.kind === "done" && end.success === true).length /
          count,
      },
    };
  };
}

const textOf = ({ turns }: Trajectory): string => turns.at(-1)?.action.content.trim() ?? "";

async function votesOn(
  ctx: Ctx,
  kind: string,
  m: number,
  judgements: number,
  warmth: { readonly temperature?: number },
): Promise<readonly Trajectory[]> {
  const task = judgementOf(kind);
  const plays = Array.from({ length: judgements }, (_, j) =>
    ctx.play({ task, attempt: m * judgements + j, ...warmth }),
  );
  return (await Promise.all(plays)).flat().filter(({ end }) => end.kind !== "failed");
}

/** The first different proposals, as many under each label; replies that are no proposal take the places that are left. */
function stratified(drawn: readonly Trajectory[], wanted: number) {
  const read = drawn
    .filter(({ end }) => end.kind !== "failed")
    .map((t) => ({ t, proposal: proposalIn(textOf(t)) }));
  const different = [...new Map(read.toReversed().map((one) => [textOf(one.t), one])).values()].toReversed();
  const each = labels.flatMap((label) =>
    different.filter(({ proposal }) => proposal?.label === label).slice(0, Math.floor(wanted / 2)),
  );
  const broken = read.filter(({ proposal }) => proposal === undefined).slice(0, wanted - each.length);
  return [...each, ...broken];
}

const paidAs = (t: Trajectory, value: number): Trajectory => ({
  ...t,
  turns: t.turns.map((turn, k) => ({
    ...turn,
    rewards: k === t.turns.length - 1 ? { agreement: value } : {},
  })),
});
