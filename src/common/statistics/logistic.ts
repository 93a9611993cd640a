/** The logistic function, without overflow at either end. */

/** ln σ(x) = −ln(1 + e^−x). */
export const logSigmoid = (x: number): number => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x)));

/** σ(x) = 1 / (1 + e^−x). */
export const sigmoid = (x: number): number => Math.exp(logSigmoid(x));
