/** Every method there is. Written by scripts/catalogue.ts from the folders beside it. */
import { aGrae } from "./advantage/a-grae.ts";
import { loop } from "./advantage/loop.ts";
import { grpo } from "./baseline/grpo.ts";
import { reinforce } from "./baseline/reinforce.ts";
import { rejectionSampling } from "./baseline/rejection-sampling.ts";
import { rloo } from "./baseline/rloo.ts";
import { sft } from "./baseline/sft.ts";
import { a2tgpo } from "./credit/a2tgpo.ts";
import { igpo } from "./credit/igpo.ts";
import { pprRenorm } from "./credit/ppr-renorm.ts";
import { preGrpo } from "./credit/pre-grpo.ts";
import { scrlSubproblemCurriculum } from "./credit/scrl-subproblem-curriculum.ts";
import type { Recipe } from "./method.ts";
import { entropyMechanism } from "./objective/entropy-mechanism.ts";
import { raft } from "./objective/raft.ts";

export {
  a2tgpo,
  aGrae,
  entropyMechanism,
  grpo,
  igpo,
  loop,
  pprRenorm,
  preGrpo,
  raft,
  reinforce,
  rejectionSampling,
  rloo,
  scrlSubproblemCurriculum,
  sft,
};

export const methods: readonly Recipe[] = [
  aGrae,
  loop,
  grpo,
  reinforce,
  rejectionSampling,
  rloo,
  sft,
  a2tgpo,
  igpo,
  pprRenorm,
  preGrpo,
  scrlSubproblemCurriculum,
  entropyMechanism,
  raft,
];
