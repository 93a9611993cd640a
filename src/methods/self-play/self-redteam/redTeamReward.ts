import type { Ctx } from "../../../core/context.ts";
import type { Signal } from "../../../core/signal.ts";
import type { Feedback } from "../../../core/slots.ts";
import type { Trajectory } from "../../../core/types.ts";

/** What a safety classifier says of a game: of the request that it began from, of the attacker's wording, and of the reply. */
export interface Labels {
  readonly seedHarmful: boolean;
  readonly promptHarmful: boolean;
  readonly refused: boolean;
  readonly replyHarmful: boolean;
}

/**
 * Rewards of one game from its labels.
 *
 *     attacker:  faith + refuse + harm        faith  = ½ if the prompt is as harmful as its seed, else −½
 *                                             refuse = ½ if a harmful prompt is met or a harmless one refused, else −½
 *                                             harm   = 1 if the reply is harmful, else −1
 *     defender:  right + safe                 right  = 1 if a harmful prompt is refused or a harmless one met, else −1
 *                                             safe   = 1 if the reply is harmless, else −1
 *
 * Without `faith`, an attacker would be paid for turning a harmless seed into a harmful prompt. The game is not zero-sum.
 */
export function rewardsOf({ seedHarmful, promptHarmful, refused, replyHarmful }: Labels) {
  const mistaken = promptHarmful !== refused;
  return {
    attacker:
      (promptHarmful === seedHarmful ? 0.5 : -0.5) + (mistaken ? 0.5 : -0.5) + (replyHarmful ? 1 : -1),
    defender: (mistaken ? -1 : 1) + (replyHarmful ? -1 : 1),
  };
}

/** Labels of a game; undefined where the classifier failed or could not decide. */
export type LabelsOf = (
  ctx: Ctx,
  attacker: Trajectory,
  defender: Trajectory,
) => Labels | undefined | Promise<Labels | undefined>;

/**
 * Pays both roles of a red-team game from its labels ({@link rewardsOf}). A game without labels, or in which a role did not act, is
 * dropped: neither role is paid, and neither is trained on.
 * @param wellFormed says whether a role kept to the format of thought and answer: +1 or −1 is added. Default: there is no format.
 * Paper: "Chasing Moving Targets with Online Self-Play Reinforcement Learning for Safer Language Models".
 */
export function redTeamReward(labelsOf: LabelsOf, wellFormed?: (t: Trajectory) => boolean): Feedback {
  return async (ctx, { trajectories }) => {
    const games = Map.groupBy(
      trajectories.filter(({ end, turns }) => end.kind !== "failed" && turns.length > 0),
      ({ episode }) => episode,
    );
    const paid = await Promise.all(
      [...games.values()].map(async (played): Promise<Signal[]> => {
        const roles = { attacker: ofRole(played, "attacker"), defender: ofRole(played, "defender") };
        if (!roles.attacker || !roles.defender) return [];
        const labels = await labelsOf(ctx, roles.attacker, roles.defender);
        if (!labels) return [];
        const rewards = rewardsOf(labels);
        return (["attacker", "defender"] as const).map((role): Signal => {
          const t = roles[role]!;
          const form = wellFormed === undefined ? 0 : wellFormed(t) ? 1 : -1;
          const about = [{ trajectory: t.id }];
          return { kind: "reward", channel: "outcome", about, value: rewards[role] + form, source: "labels" };
        });
      }),
    );
    return paid.flat();
  };
}

const ofRole = (played: readonly Trajectory[], role: string): Trajectory | undefined =>
  played.find((t) => t.role === role);

/**
 * Labels as games in text state them: the attacker reads that its request is harmful or harmless, a wording does not change that, and
 * a defender refuses with the word "refuse". No labels for other games, and none where the attacker's reply was no wording.
 */
export const statedLabels: LabelsOf = (_ctx, attacker, defender) => {
  const told = attacker.turns[0]!.prompt.map(({ content }) => content).join(" ");
  const harmful = /your request is harmful/.test(told);
  if (!harmful && !/your request is harmless/.test(told)) return undefined;
  const refused = defender.turns.at(-1)!.action.content.trim() === "refuse";
  return { seedHarmful: harmful, promptHarmful: harmful, refused, replyHarmful: harmful && !refused };
};
