/** The six methods of the report, each with a critiquer of a given accuracy and groups of as many looks. */
import { teacher } from "../../src/annotate/teacher.ts";
import {
  critiqueText,
  environmentText,
  firstOf,
  siblingSolution,
} from "../../src/common/tokens/privilegedContext.ts";
import type { Able } from "../../src/core/evaluator.ts";
import type { Method } from "../../src/core/slots.ts";
import { scriptedCritiquer } from "../../src/evaluator/scripted.ts";
import { method, type Recipe } from "../../src/method/method.ts";
import { grpo } from "../../src/methods/baseline/grpo/method.ts";
import { critiqueGrpo, refining } from "../../src/methods/language-feedback/critique-grpo/method.ts";
import { r3l, reflecting } from "../../src/methods/language-feedback/r3l/method.ts";
import { rltf, textFeedback } from "../../src/methods/language-feedback/rltf/method.ts";
import { scoreSelfCorrect } from "../../src/methods/language-feedback/score-self-correct/method.ts";
import { sdpo } from "../../src/methods/language-feedback/sdpo/method.ts";
import { plainAscent } from "../../src/train/trainingArm.ts";

/** Tasks trained in each iteration. */
const tasks = 8;

export interface Setup {
  readonly learningRate: number;
  /** Share of critiques that are true. */
  readonly accuracy: number;
  /** Outcomes and critiques for each task of an iteration, about. */
  readonly looks: number;
  /** Iterations that the budget buys, about. */
  readonly iterations: number;
}

export interface Contestant {
  readonly id: string;
  readonly name: string;
  /** Whether it hears critiques. */
  readonly hears: boolean;
  /** Whether it trains two answers in one context. */
  readonly twice?: true;
  build(setup: Setup): Method;
}

const settingsOf = ({ learningRate }: Setup, groupSize: number) => ({
  ...plainAscent,
  tasks,
  groupSize,
  learningRate,
});

const critiquer = ({ accuracy }: Setup): Able<"critique"> =>
  scriptedCritiquer({ accuracy, detail: "answer" });

/** Attempts that are each looked at, criticised, tried again and looked at again: three looks each. */
const third = ({ looks }: Setup): number => Math.floor(looks / 3);

/** A method of the catalogue with a critiquer of ours. */
const criticised = (of: Recipe, slots: Parameters<typeof method>[0]["slots"]): Recipe =>
  method({ ...of, slots });

/** In the order of the page; the first is what the others are compared with, and sees outcomes alone. */
export const contestants: readonly Contestant[] = [
  {
    id: "grpo",
    name: "GRPO",
    hears: false,
    build: (setup) => grpo.build(settingsOf(setup, setup.looks)),
  },
  {
    id: "critique-grpo",
    name: "Critique-GRPO",
    hears: true,
    build: (setup) =>
      criticised(critiqueGrpo, refining(critiquer(setup))).build(settingsOf(setup, third(setup))),
  },
  {
    id: "sdpo",
    name: "SDPO",
    hears: true,
    // attempts that are looked at, and criticised where there is nothing else to tell
    build: (setup) => {
      const built = sdpo.build(settingsOf(setup, setup.looks / 2));
      const tell = firstOf(siblingSolution(), environmentText, critiqueText(critiquer(setup)));
      return {
        ...built,
        says: ["\n"],
        slots: { ...built.slots, annotate: [teacher({ tell, by: "teacher", topk: 100 })] },
      };
    },
  },
  {
    id: "rltf",
    name: "RLTF",
    hears: true,
    build: (setup) => {
      const slots = textFeedback({ critiquer: critiquer(setup), distillation: 1, modelling: 0 });
      return criticised(rltf, slots).build(settingsOf(setup, third(setup)));
    },
  },
  {
    id: "r3l",
    name: "R³L",
    hears: true,
    // half of R³L's group are first attempts
    build: (setup) =>
      criticised(r3l, reflecting(critiquer(setup))).build(settingsOf(setup, 2 * third(setup))),
  },
  {
    id: "score-self-correct",
    name: "SCoRe",
    hears: false,
    twice: true,
    build: (setup) => {
      const built = scoreSelfCorrect.build(settingsOf(setup, setup.looks / 2));
      // three tenths of training on the second answer alone, as in 45 of 150 iterations
      const until = Math.round(0.3 * setup.iterations);
      return { ...built, phases: (built.phases ?? []).map((phase) => ({ ...phase, until })) };
    },
  },
];
