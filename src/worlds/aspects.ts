/** Instructions and replies whose worth has several aspects, and noisy comparisons of them: for learning reward models. */
import { sigmoid } from "../common/statistics/logistic.ts";
import { type Random, randomStream } from "../core/random.ts";

/** Settings of {@link aspects}. */
export interface AspectsOptions {
  /** Words of a reply, one for each place, in order; at most 16. Default 8. */
  readonly places?: number;
  /** Values to choose from at a place. Default 3. */
  readonly values?: number;
  /** Words for one value, which differ in nothing that is worth anything; at most 4. Default 1. */
  readonly synonyms?: number;
  /** Deviation of the worth of a value at its place. Default 1. */
  readonly quality?: number;
  /** Deviation of the worth of two neighbouring values, the same at all places. Default 0. */
  readonly coherence?: number;
  /** Worth of each demand that a reply obeys. Default 1.5. */
  readonly obedience?: number;
  /** Default 1. */
  readonly seed?: number;
}

/** Asks for a value at a place. */
export interface Demand {
  readonly place: number;
  readonly value: number;
}
/** What is asked for; without demands, only quality and coherence count. */
export type Instruction = readonly Demand[];

/** Value and synonym at each place. */
export interface Reply {
  readonly values: readonly number[];
  readonly synonyms: readonly number[];
}

/** The aspects of a reply's worth; their sum is the gold utility. */
export interface Worth {
  readonly quality: number;
  readonly coherence: number;
  readonly obedience: number;
}

/** How a pair is labelled. */
export interface Labelling {
  /** Divides the margin in the annotator's choice: P(first) = σ(margin / temperature). 0: always the better one. Default 1. */
  readonly temperature?: number;
  /** Share of pairs whose label is a fair coin. Default 0. */
  readonly coins?: number;
  /** Share of pairs whose label is reversed at the end. Default 0. */
  readonly flips?: number;
}

/** Two replies to an instruction, as the label orders them. */
export interface LabelledPair {
  readonly instruction: Instruction;
  readonly chosen: Reply;
  readonly rejected: Reply;
  /** Gold utility of the chosen reply less that of the rejected one: the pair's true strength, negative where the label is wrong. */
  readonly margin: number;
}

/** A world of {@link aspects}. */
export interface Aspects {
  readonly places: number;
  readonly values: number;
  readonly synonyms: number;
  worthOf(instruction: Instruction, reply: Reply): Worth;
  /** Gold utility. */
  goldOf(instruction: Instruction, reply: Reply): number;
  /** Worth of a value before another one, [values][values]. */
  readonly neighbours: readonly (readonly number[])[];
  /** Distinct places, uniform values. */
  drawInstruction(random: Random, demands: number): Instruction;
  /** Uniform values and synonyms. */
  drawReply(random: Random): Reply;
  label(instruction: Instruction, first: Reply, second: Reply, random: Random, how?: Labelling): LabelledPair;
}

/** Whether a reply has the value that is asked for. */
export const obeys = ({ values }: Reply, { place, value }: Demand): boolean => values[place] === value;

const letters = "abcdefghijklmnop";
const marks = ["", "x", "y", "z"] as const;

/** The demand as a word, `c2` for value 2 at the third place: the first of its synonyms. */
export const demandText = ({ place, value }: Demand): string => `${letters[place]}${value}`;
/** `reply c2 f0`; `reply` without demands. */
export const instructionText = (instruction: Instruction): string =>
  ["reply", ...instruction.map(demandText)].join(" ");
/** `a1 b0x c2…`: letter of the place, value, and a mark for the second synonym and later ones. */
export const replyText = ({ values, synonyms }: Reply): string =>
  values.map((value, place) => `${letters[place]}${value}${marks[synonyms[place]!]}`).join(" ");

/**
 * The gold utility of a reply is the sum of three aspects:
 *
 *     quality = Σ_p Q[p][v_p]     coherence = Σ_p B[v_p][v_{p+1}]     obedience = worth of a demand × demands that it obeys
 *
 * Q and B are normal and drawn once for a seed. Synonyms are worth nothing: they are the style that a reward model should ignore.
 */
export function aspects(options: AspectsOptions = {}): Aspects {
  const { places = 8, values = 3, synonyms = 1, seed = 1 } = options;
  const { quality = 1, coherence = 0, obedience = 1.5 } = options;
  const table = (key: string, rows: number, deviation: number): number[][] => {
    const random = randomStream(seed).split("aspects", key);
    return Array.from({ length: rows }, () =>
      Array.from({ length: values }, () => deviation * random.normal()),
    );
  };
  const qualities = table("quality", places, quality);
  const neighbours = table("coherence", values, coherence);
  const worthOf: Aspects["worthOf"] = (instruction, reply) => ({
    quality: reply.values.reduce((sum, v, p) => sum + qualities[p]![v]!, 0),
    coherence: reply.values.slice(1).reduce((sum, v, p) => sum + neighbours[reply.values[p]!]![v]!, 0),
    obedience: obedience * instruction.filter((demand) => obeys(reply, demand)).length,
  });
  const goldOf: Aspects["goldOf"] = (instruction, reply) => {
    const worth = worthOf(instruction, reply);
    return worth.quality + worth.coherence + worth.obedience;
  };
  return {
    places,
    values,
    synonyms,
    worthOf,
    goldOf,
    neighbours,
    drawInstruction(random, demands) {
      const free = Array.from({ length: places }, (_, p) => p);
      return Array.from({ length: Math.min(demands, places) }, () => {
        const [place] = free.splice(random.below(free.length), 1);
        return { place: place!, value: random.below(values) };
      });
    },
    drawReply: (random) => ({
      values: Array.from({ length: places }, () => random.below(values)),
      synonyms: Array.from({ length: places }, () => random.below(synonyms)),
    }),
    label(instruction, first, second, random, { temperature = 1, coins = 0, flips = 0 } = {}) {
      const margin = goldOf(instruction, first) - goldOf(instruction, second);
      const [choice, coin, flip] = [random.next(), random.next(), random.next()];
      const better = temperature === 0 ? margin > 0 : choice < sigmoid(margin / temperature);
      const guessed = coin < coins ? choice < 0.5 : better;
      return guessed !== flip < flips
        ? { instruction, chosen: first, rejected: second, margin }
        : { instruction, chosen: second, rejected: first, margin: -margin };
    },
  };
}
