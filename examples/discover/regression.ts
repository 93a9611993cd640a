/**
 * Symbolic regression: find the formula behind twenty points, here x⁴ + x³ + x² + x (Nguyen-2 of the usual benchmarks). A candidate is a
 * formula in prefix form, such as "+ x * x x".
 *
 *     npx whetstone discover regression.ts
 */
import { defineProblem } from "../../src/discover/index.ts";

const xs = Array.from({ length: 20 }, (_, i) => -1 + (2 * i) / 19);
const wanted = xs.map((x) => x ** 4 + x ** 3 + x ** 2 + x);
const operators = ["+", "-", "*"] as const;
const leaves = ["x", "1"] as const;
/** Longest formula, in words. */
const longest = 31;

type Formula = readonly string[];
const wordsOf = (candidate: string): Formula => candidate.trim().split(/\s+/);
const isOperator = (word: string | undefined): boolean => operators.some((one) => one === word);

/** The place after the part of a formula that begins at a place; past the end where it is not whole. */
function endOf(formula: Formula, at: number): number {
  let open = 1;
  let i = at;
  for (; open > 0 && i < formula.length; i++) open += isOperator(formula[i]) ? 1 : -1;
  return open === 0 ? i : formula.length + 1;
}

function evaluated(formula: Formula, x: number): number {
  let at = 0;
  const next = (): number => {
    const word = formula[at++];
    if (word === "x") return x;
    if (word === "1") return 1;
    const [a, b] = [next(), next()];
    return word === "+" ? a + b : word === "-" ? a - b : a * b;
  };
  return next();
}

const isFormula = (formula: Formula): boolean =>
  formula.length <= longest &&
  formula.every((word) => isOperator(word) || leaves.some((one) => one === word)) &&
  endOf(formula, 0) === formula.length;

export default defineProblem({
  name: "regression",
  summary: `A formula of x in prefix form, of the words + - * x 1, at most ${longest} words, separated by spaces, such as: + x * x x. The score is 1 / (1 + root mean squared error) over the points ${xs.map((x, i) => `(${x.toFixed(3)}, ${wanted[i]!.toFixed(4)})`).join(" ")}.`,
  starts: ["x", "1"],
  optimum: 1,
  vocabulary: () => [...operators, ...leaves, ...Array.from({ length: longest }, (_, i) => `${i}`), "l", "r"],
  score(candidate) {
    const formula = wordsOf(candidate);
    if (!isFormula(formula)) return undefined;
    const squares = xs.map((x, i) => (evaluated(formula, x) - wanted[i]!) ** 2);
    return 1 / (1 + Math.sqrt(squares.reduce((a, b) => a + b) / xs.length));
  },
  moves: {
    // a part becomes a leaf, changes its operator, or stands left or right of a leaf under a new operator
    of(candidate) {
      const formula = wordsOf(candidate);
      const grows = formula.length + 2 <= longest;
      return formula.flatMap((word, at) => [
        ...leaves.filter((leaf) => leaf !== word).map((leaf) => `${at} ${leaf}`),
        ...(isOperator(word) ? operators.filter((one) => one !== word).map((one) => `${at} ${one}`) : []),
        ...(grows
          ? operators.flatMap((one) =>
              leaves.flatMap((leaf) => [`${at} ${one} ${leaf} l`, `${at} ${one} ${leaf} r`]),
            )
          : []),
      ]);
    },
    apply(candidate, move) {
      const formula = wordsOf(candidate);
      const [place, word, leaf, side] = wordsOf(move);
      const at = Number(place);
      const end = endOf(formula, at);
      const [before, part, after] = [formula.slice(0, at), formula.slice(at, end), formula.slice(end)];
      if (leaf !== undefined)
        return [...before, word!, ...(side === "l" ? [...part, leaf] : [leaf, ...part]), ...after].join(" ");
      const changed = isOperator(word) ? [word!, ...part.slice(1)] : [word!];
      return [...before, ...changed, ...after].join(" ");
    },
  },
});
