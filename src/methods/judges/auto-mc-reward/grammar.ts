/** Scripted authors for the grid: a designer that combines terms and makes mistakes, a critic that knows what steps should pay, an analyser that counts. */
import { mean } from "../../../common/statistics/statistics.ts";
import { type Random, shuffled } from "../../../core/random.ts";
import type { Authors, DesignRequest, Draft, Failures } from "./design.ts";
import type { Fields } from "./rewardCode.ts";

const far = (state: string): string =>
  `Math.abs(${state}.row - ${state}.diamondRow) + Math.abs(${state}.column - ${state}.diamondColumn)`;

/** A term with three mistakes: it pays the opposite, it reads what there is not, or it does not parse. */
interface Term {
  readonly right: string;
  readonly reversed: string;
  readonly unknown: string;
  readonly broken: string;
}

const terms = {
  approach: {
    right: `dense += ${far("before")} - (${far("after")});`,
    reversed: `dense += ${far("after")} - (${far("before")});`,
    unknown: "dense += before.distance - after.distance;",
    broken: `dense += ${far("before")} - (${far("after")};`,
  },
  avoid: {
    right: 'if (after.on === "lava") sparse -= 1;',
    reversed: 'if (after.on === "lava") sparse += 1;',
    unknown: 'if (after.block.name === "lava") sparse -= 1;',
    broken: 'if (after.on === "lava" sparse -= 1;',
  },
  explore: {
    right: 'const cell = after.row + " " + after.column; if (!memory[cell]) dense += 1; memory[cell] = true;',
    reversed:
      'const cell = after.row + " " + after.column; if (!memory[cell]) dense -= 1; memory[cell] = true;',
    unknown: "if (!memory.visited.has(after.cell)) dense += 1;",
    broken: 'const cell = after.row + " " + after.column; if (!memory[cell] dense += 1;',
  },
} as const satisfies Readonly<Record<string, Term>>;
type Name = keyof typeof terms;
const names: readonly Name[] = ["approach", "avoid", "explore"];
const mistakes = ["reversed", "unknown", "broken"] as const;

/** Code of terms, one on each line with its name. */
const written = (lines: readonly string[]): string =>
  `function reward(before, after, memory) {
  let [dense, sparse] = [0, 0];
  if (after.on === "diamond") sparse += 1;
${lines.join("\n")}
  return { dense, sparse };
}`;

const termsIn = (code: string): readonly string[] => code.split("\n").filter((line) => line.includes("/* "));

/** Code that a person would write: towards the diamond, and not into lava. */
export const byHand: string = written([line("approach", "right"), line("avoid", "right")]);

function line(name: Name, as: keyof Term): string {
  return `  /* ${name} */ ${terms[name][as]}`;
}

/**
 * Keeps the terms of the previous version and adds one: the first that the analysis names and the code has not, else one at random. With
 * probability `error` the new term has one of three mistakes, drawn anew for every draft.
 */
const design = ({ previous }: DesignRequest, random: Random, error: number): string => {
  const before = termsIn(previous?.code ?? "");
  const has = (name: Name): boolean => before.some((text) => text.includes(`/* ${name} */`));
  const advised = names
    .filter((name) => previous?.analysis.includes(name))
    .toSorted((a, b) => previous!.analysis.indexOf(a) - previous!.analysis.indexOf(b));
  const next = [...advised, ...shuffled(names, random.split("term"))].find((name) => !has(name));
  if (next === undefined) return written(before);
  const slip = random.split("slip");
  const as = slip.next() < error ? mistakes[slip.below(mistakes.length)]! : "right";
  return written([...before, line(next, as)]);
};

const distance = (s: Fields): number =>
  Math.abs(Number(s.row) - Number(s.diamondRow)) + Math.abs(Number(s.column) - Number(s.diamondColumn));

/** Least difference between mean rewards that is no accident: half of what a sign of the dense reward is worth. */
const plain = 0.05;

/** What steps should pay, where that is plain, against what they pay. */
function objectionTo({ samples }: Draft): string | undefined {
  const steps = samples.flatMap(({ frames, paid }) =>
    paid.map((r, k) => {
      const [before, after] = [frames[k]!, frames[k + 1]!];
      const seen = frames.slice(0, k + 1).some((s) => s.row === after.row && s.column === after.column);
      return { after, r, seen, nearer: distance(before) - distance(after) };
    }),
  );
  if (steps.some(({ after, r }) => after.on === "lava" && r > 0.5)) return "it pays for walking into lava";
  if (steps.some(({ after, r }) => after.on === "diamond" && r < 0.5)) return "the diamond is not paid";
  const paidWhere = (is: (step: (typeof steps)[number]) => boolean): number =>
    mean(steps.filter((step) => step.after.on === "ground" && is(step)).map(({ r }) => r));
  if (paidWhere(({ nearer }) => nearer < 0) - paidWhere(({ nearer }) => nearer > 0) > plain)
    return "steps away from the diamond pay more than steps towards it";
  if (paidWhere(({ seen }) => seen) - paidWhere(({ seen }) => !seen) > plain)
    return "cells that were visited before pay more than new ones";
  return undefined;
}

/** Which term would help against the commonest cause of failure: the others follow. */
function analysisOf(failures: Failures): string {
  const lava = failures.filter(({ frames }) => frames.at(-1)?.on === "lava").length;
  const late = failures.length - lava;
  const order: readonly Name[] =
    lava > late ? ["avoid", "approach", "explore"] : ["approach", "explore", "avoid"];
  return `${lava} fell into lava, ${late} ran out of time: add ${order.join(", ")}`;
}

/** Authors for the grid. @param error probability that a draft's new term is wrong. */
export const scriptedAuthors = (error: number): Required<Authors> => ({
  designer: {
    name: "scripted designer",
    write: async (request, { random }) => design(request, random, error),
  },
  critic: {
    name: "scripted critic",
    critique: async (draft) => {
      const text = objectionTo(draft);
      return text === undefined ? { text: "right", outcome: "success" } : { text, outcome: "failure" };
    },
  },
  analyser: { name: "scripted analyser", critique: async (failures) => ({ text: analysisOf(failures) }) },
});

/** A designer that hands in the same code every time. */
export const given = (code: string): Authors => ({ designer: { name: "given", write: async () => code } });
