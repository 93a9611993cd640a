import type { Tensor, TensorLike } from "../graph.ts";
import { reciprocal } from "./reciprocal.ts";
import { sqrt } from "./sqrt.ts";

/** `1 / √x`. */
export const rsqrt = (x: TensorLike): Tensor => reciprocal(sqrt(x));
