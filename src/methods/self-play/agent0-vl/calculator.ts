import type { Tool } from "./solverVerifier.ts";

/**
 * Calculates what a step says: of every "12 * 3 = 35" in the action, the result. It has nothing to say about a step without such an equation, about a division
 * by 0, or about results that are no whole numbers. Its output names the first equation that is wrong, else the last one.
 */
export const calculator: Tool = (_task, { action }) => {
  const equation = /(-?\d+)\s*([+*/-])\s*(-?\d+)\s*=\s*(-?\d+)/g;
  const found = [...action.content.matchAll(equation)].flatMap(([, a, operator, b, said]) => {
    const value = results[operator!]!(Number(a), Number(b));
    return Number.isSafeInteger(value)
      ? [{ output: `calculator : ${a} ${operator} ${b} = ${value}`, agrees: value === Number(said) }]
      : [];
  });
  return found.find(({ agrees }) => !agrees) ?? found.at(-1);
};

const results: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};
