/** A population of simulated users: who they are, what a reply is truly worth to them, and how far what they say is from it. */
import { WhetstoneError } from "../../core/errors.ts";
import type { Random } from "../../core/random.ts";
import { openings, qualitiesOf, type Request, topics } from "./advice.ts";

/**
 * How feedback departs from the truth. Every one of them can be switched off: {@link unbiased} has none.
 */
export interface Biases {
  /**
   * Who reacts at all: the chance to react for somebody without any feeling, and for somebody with the strongest one;
   * in between, in between. Equal: silence says nothing.
   */
  readonly selfSelection: { readonly calm: number; readonly moved: number };
  /** Wrong clicks: the chance that dislike is clicked as like (ρ10), and like as dislike (ρ01). Together below 1. */
  readonly flips: { readonly up: number; readonly down: number };
  /** Of several replies shown, what being the first one adds to the log-odds of being preferred. */
  readonly position: number;
  /** The chance that somebody too polite to say something bad says nothing instead. */
  readonly politeness: number;
  /** 0: people like what is good for them. 1: they like what they wanted to hear, and find out later. */
  readonly delayedRegret: number;
  /** The chance that the opening of a request misstates what its user wants: tastes differ, and not all of it shows. */
  readonly hiddenTaste: number;
  /** Share of the willingness to react that is lost with every reaction already given. */
  readonly fatigue: number;
}

/** Every bias switched off: everybody reacts, no click is wrong, and nothing is left unsaid. */
export const unbiased: Biases = {
  selfSelection: { calm: 1, moved: 1 },
  flips: { up: 0, down: 0 },
  position: 0,
  politeness: 0,
  delayedRegret: 0,
  hiddenTaste: 0,
  fatigue: 0,
};

/** As the literature finds people: strong feelings speak, a click in ten is wrong, flattery works until it is found out. */
export const usualBiases: Biases = {
  selfSelection: { calm: 0.1, moved: 0.7 },
  flips: { up: 0.1, down: 0.2 },
  position: 1,
  politeness: 0.3,
  delayedRegret: 0.9,
  hiddenTaste: 0.1,
  fatigue: 0.02,
};

/** Checks settings at the door. @throws WhetstoneError `option.range`. */
export function biasesOf(stated: Partial<Biases> = {}): Biases {
  const biases = { ...usualBiases, ...stated };
  const { selfSelection, flips, politeness, delayedRegret, hiddenTaste, fatigue, position } = biases;
  const shares = {
    "selfSelection.calm": selfSelection.calm,
    "selfSelection.moved": selfSelection.moved,
    "flips.up": flips.up,
    "flips.down": flips.down,
    politeness,
    delayedRegret,
    hiddenTaste,
    fatigue,
  };
  const wrong = Object.entries(shares).find(([, x]) => !(x >= 0 && x <= 1));
  const refuse = (name: string, got: string, expected: string): never => {
    throw new WhetstoneError("option.range", {
      where: `biases of users, ${name}`,
      got,
      expected,
      fix: "Begin with `unbiased` and change what you want to look at.",
    });
  };
  if (wrong) refuse(wrong[0], `${wrong[1]}`, "a share from 0 to 1");
  if (!(flips.up + flips.down < 1)) refuse("flips", `${flips.up} and ${flips.down}`, "less than 1 together");
  if (!Number.isFinite(position)) refuse("position", `${position}`, "a number");
  return biases;
}

/** Somebody of the population. */
export interface User {
  readonly id: string;
  /** What they want, whatever they write. Hidden from whoever answers. */
  readonly hurried: boolean;
}

/** The user of that number: the same for the same seed. */
export function userAt(random: Random, index: number): User {
  return { id: `user-${index}`, hurried: random.split("user", index).next() < 0.5 };
}

/** What a user asks next: any topic, in the tone of their taste unless that is misstated. */
export function requestBy(user: User, biases: Biases, random: Random): Request {
  const topic = topics[random.below(topics.length)]!;
  const hurried = random.next() < biases.hiddenTaste ? !user.hurried : user.hurried;
  return { topic, hurried, text: `${hurried ? openings.hurried : openings.calm} ${topic}` };
}

/**
 * What a reply is worth to a user in the end, in [0, 1]: 0.6 for what helps, 0.2 for the length that this user wants, 0.2
 * for not being flattered. 0 for what is no advice. Known to the simulation alone.
 */
export function trueUtility(user: User, request: Request, reply: string): number {
  const q = qualitiesOf({ ...request, hurried: user.hurried }, reply);
  return q ? 0.6 * Number(q.helps) + 0.2 * Number(q.fits) + 0.2 * Number(!q.flatters) : 0;
}

/**
 * How a user feels about a reply at once, in [−1, 1]:
 *
 *     s = (1 − d) · (2 · utility − 1) + d · appeal          d: delayed regret
 *     appeal = −0.7, +0.7 for what helps, +1.1 for what one would rather hear, ±0.15 for the length, +0.35 for flattery
 *
 * What is no advice is felt as −1.
 */
export function feeling(user: User, request: Request, reply: string, { delayedRegret: d }: Biases): number {
  const q = qualitiesOf({ ...request, hurried: user.hurried }, reply);
  if (!q) return -1;
  const appeal =
    -0.7 + (q.helps ? 0.7 : 0) + (q.pleases ? 1.1 : 0) + (q.fits ? 0.15 : -0.15) + (q.flatters ? 0.35 : 0);
  const truth = 2 * trueUtility(user, request, reply) - 1;
  return Math.max(-1, Math.min(1, (1 - d) * truth + d * appeal));
}
