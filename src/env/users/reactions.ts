/** What simulated users say of a reply: at once, in words, weeks later, or not at all. */
import { sigmoid } from "../../common/statistics/logistic.ts";
import type { Random } from "../../core/random.ts";
import { bestReply, type Request } from "./advice.ts";
import { type Biases, feeling, trueUtility, type User } from "./population.ts";

/** Absent: silence, which is no opinion. */
export interface Reaction {
  /** 1: like, 0: dislike. At once. */
  readonly thumb?: 0 | 1;
  readonly comment?: string;
  /** The reply that they would rather have had; from one in four of those who disliked it and found out what helps. */
  readonly correction?: string;
  /** Whether it worked out, as found out and told later. */
  readonly later?: { readonly worked: 0 | 1; readonly days: number };
}

/** What comments say. */
export const comments = { pleased: "lovely thanks", displeased: "not what i wanted" } as const;

/** Days until somebody tells how it worked out. */
const regretDays = { least: 14, most: 28 } as const;

/**
 * How one user takes one reply. Each thing is drawn from a stream of its own, so that switching off one bias leaves the
 * other draws as they were.
 *
 *     like      with probability σ(3 s), s the feeling at once, then flipped at the rates of wrong clicks
 *     worked    with probability utility: who was served worse comes to regret it, and tells it at the same flip rates
 *     reacts    with probability calm + (moved − calm) · strength, strength |s| at once and |2 · utility − 1| later,
 *               less for each reaction given before; somebody polite swallows what would be bad
 *
 * @param given reactions that this user has given before.
 */
export function react(
  user: User,
  request: Request,
  reply: string,
  biases: Biases,
  random: Random,
  given = 0,
): Reaction {
  const { flips, politeness, fatigue } = biases;
  const s = feeling(user, request, reply, biases);
  const utility = trueUtility(user, request, reply);
  const chance = (key: string, p: number): boolean => random.split(key).next() < p;
  const speaks = (key: string, strength: number, good: boolean): boolean =>
    chance(`${key} speaks`, reactionChance(strength, biases) * (1 - fatigue) ** given) &&
    (good || !chance(`${key} polite`, politeness));
  const clicked = (key: string, good: boolean): 0 | 1 =>
    chance(`${key} flip`, good ? flips.down : flips.up) !== good ? 1 : 0;

  const liked = chance("liked", sigmoid(3 * s));
  const worked = chance("worked", utility);
  const atOnce = speaks("thumb", Math.abs(s), liked);
  const says = atOnce && chance("comment", 0.2);
  const corrects = atOnce && !liked && chance("correction", 0.25);
  const days = regretDays.least + random.split("days").below(regretDays.most - regretDays.least + 1);
  return {
    ...(atOnce && { thumb: clicked("thumb", liked) }),
    ...(says && { comment: liked ? comments.pleased : comments.displeased }),
    ...(corrects && { correction: bestReply({ ...request, hurried: user.hurried }) }),
    ...(speaks("later", Math.abs(2 * utility - 1), worked) && {
      later: { worked: clicked("later", worked), days },
    }),
  };
}

/** Chance to react at all for a feeling of this strength, in [0, 1]. */
export function reactionChance(strength: number, { selfSelection: { calm, moved } }: Biases): number {
  return calm + (moved - calm) * strength;
}

/**
 * Which of several replies shown together a user prefers: index by a softmax of 4 · feeling, the first one helped by its
 * position.
 * @returns nothing for no replies.
 */
export function preferred(
  user: User,
  request: Request,
  replies: readonly string[],
  biases: Biases,
  random: Random,
): number | undefined {
  const odds = replies.map((reply, i) =>
    Math.exp(4 * feeling(user, request, reply, biases) + (i === 0 ? biases.position : 0)),
  );
  const total = odds.reduce((a, b) => a + b, 0);
  let left = random.next() * total;
  const at = odds.findIndex((o) => {
    left -= o;
    return left < 0;
  });
  return at < 0 ? (replies.length === 0 ? undefined : replies.length - 1) : at;
}
