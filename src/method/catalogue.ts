/** Every method there is. Written by scripts/catalogue.ts from the folders beside it. */
import { aGrae } from "./advantage/a-grae.ts";
import { grpo } from "./baseline/grpo.ts";
import { reinforce } from "./baseline/reinforce.ts";
import { rloo } from "./baseline/rloo.ts";
import type { Recipe } from "./method.ts";

export { aGrae, grpo, reinforce, rloo };

export const methods: readonly Recipe[] = [aGrae, grpo, reinforce, rloo];
