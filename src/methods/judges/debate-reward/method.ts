import { groupNormalised } from "../../../advantage/groupNormalised.ts";
import type { Ctx } from "../../../core/context.ts";
import type { Task } from "../../../core/types.ts";
import { comparedReward } from "../../../feedback/comparedReward.ts";
import { bradleyTerry } from "../../../helper/bradleyTerry.ts";
import { method } from "../../../method/method.ts";
import { actionOf, debateReward, someEvidence } from "./debateReward.ts";

/** What the starting policy does with the task: a number that no attempt of the rollout has. */
const atFirst = async (ctx: Ctx, task: Task): Promise<string | undefined> => {
  const [played] = await ctx.play({ task: task.id, attempt: 1_000_000, models: { agent: "reference" } });
  return played && played.end.kind !== "failed" && played.turns.length > 0 ? actionOf(played) : undefined;
};

export const debateRewardMethod = method({
  id: "debate-reward",
  family: "judges",
  summary: "pays actions that win an argument over evidence that both sides choose",
  paper: "Reward Design for Justifiable Sequential Decision-Making",
  mechanism:
    "For a state, two sides argue for the agent's action and for another one. In turn they reveal pieces of evidence, each what helps its side most, and a judge scores both actions by what was revealed alone. The outcome is added to the reward, so that the policy prefers what remains defensible when only part of the evidence is seen and the other side chose half of it. The judge is learnt from preferences under random evidence.",
  equation: [
    "P(a ≻ a′ | E) = σ(J(a, E) − J(a′, E))          fitted with E drawn at random",
    "u = sign(J(a, E_L) − J(a_B, E_L))              E_L: L items, revealed in turn by the best play of both, both orders averaged",
    "r = (1 − λ) r_env + λ u                        u = 0 where a = a_B",
  ].join("\n"),
  source:
    "the shaped return, the judge's likelihood and the arguers from a summary of the paper; λ = ½, L = 6, both orders and ties are ours. Arguers trained by self-play are replaced by the best play against a judge whose scores add up, a linear model of a request's words and the action's; the other action is the starting policy's, in place of a logged one, and the learner is GRPO in place of an off-policy one",
  frozen: { reference: {} },
  helpers: { judge: bradleyTerry() },
  options: {
    lambda: { help: "λ, the debate's share of the reward", default: 0.5, low: 0, high: 1 },
    items: { help: "L, items of evidence in a debate", default: 6, low: 2, high: 1000, whole: true },
  },
  slots: (_s, { lambda, items }) => ({
    feedback: [
      comparedReward({
        helper: "judge",
        channel: "judge",
        exchangeOf: (ctx, t) => ({ asked: someEvidence(ctx, ctx.task(t.task), items), replied: actionOf(t) }),
      }),
      debateReward({ lambda, items, rivalOf: atFirst }),
    ],
    advantage: groupNormalised({ channels: ["outcome"] }),
  }),
});
