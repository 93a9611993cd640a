export const precisions = ["f32", "f16"] as const;

/** Of products: in 32 bits, or with factors rounded to 16 for tensor cores. Weights and sums stay in 32. */
export type Precision = (typeof precisions)[number];
