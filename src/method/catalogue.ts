/** Every method there is. Written by scripts/catalogue.ts from the folders beside it. */
import { aGrae } from "./advantage/a-grae.ts";
import { grpo } from "./baseline/grpo.ts";
import { reinforce } from "./baseline/reinforce.ts";
import { rloo } from "./baseline/rloo.ts";
import { sft } from "./baseline/sft.ts";
import { preGrpo } from "./credit/pre-grpo.ts";
import { scrlSubproblemCurriculum } from "./credit/scrl-subproblem-curriculum.ts";
import type { Recipe } from "./method.ts";
import { entropyMechanism } from "./objective/entropy-mechanism.ts";

export { aGrae, entropyMechanism, grpo, preGrpo, reinforce, rloo, scrlSubproblemCurriculum, sft };

export const methods: readonly Recipe[] = [
  aGrae,
  grpo,
  reinforce,
  rloo,
  sft,
  preGrpo,
  scrlSubproblemCurriculum,
  entropyMechanism,
];
