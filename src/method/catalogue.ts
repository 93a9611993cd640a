/** Every method there is. Written by scripts/catalogue.ts from the folders beside it. */
import { aGrae } from "./advantage/a-grae.ts";
import { aem } from "./advantage/aem.ts";
import { drKernel } from "./advantage/dr-kernel.ts";
import { loop } from "./advantage/loop.ts";
import { mapo } from "./advantage/mapo.ts";
import { odysseus } from "./advantage/odysseus.ts";
import { bestOfN } from "./baseline/best-of-n.ts";
import { bootstrapFewShot } from "./baseline/bootstrap-few-shot.ts";
import { cispo } from "./baseline/cispo.ts";
import { dapo } from "./baseline/dapo.ts";
import { dpo } from "./baseline/dpo.ts";
import { drGrpo } from "./baseline/dr-grpo.ts";
import { gepa } from "./baseline/gepa.ts";
import { grpo } from "./baseline/grpo.ts";
import { gspo } from "./baseline/gspo.ts";
import { ipo } from "./baseline/ipo.ts";
import { kto } from "./baseline/kto.ts";
import { ppo } from "./baseline/ppo.ts";
import { reinforce } from "./baseline/reinforce.ts";
import { reinforcePlusPlus } from "./baseline/reinforce-plus-plus.ts";
import { rejectionSampling } from "./baseline/rejection-sampling.ts";
import { rloo } from "./baseline/rloo.ts";
import { sft } from "./baseline/sft.ts";
import { turnPpo } from "./baseline/turn-ppo.ts";
import { a2tgpo } from "./credit/a2tgpo.ts";
import { archer } from "./credit/archer.ts";
import { cleaner } from "./credit/cleaner.ts";
import { cosearch } from "./credit/cosearch.ts";
import { hiper } from "./credit/hiper.ts";
import { igpo } from "./credit/igpo.ts";
import { infopo } from "./credit/infopo.ts";
import { intIntervention } from "./credit/int-intervention.ts";
import { lare } from "./credit/lare.ts";
import { matchtir } from "./credit/matchtir.ts";
import { oprl } from "./credit/oprl.ts";
import { pbsd } from "./credit/pbsd.ts";
import { pprRenorm } from "./credit/ppr-renorm.ts";
import { preGrpo } from "./credit/pre-grpo.ts";
import { rToQstar } from "./credit/r-to-qstar.ts";
import { reseek } from "./credit/reseek.ts";
import { rl4mle } from "./credit/rl4mle.ts";
import { scrlSubproblemCurriculum } from "./credit/scrl-subproblem-curriculum.ts";
import { siop } from "./credit/siop.ts";
import { spaRl } from "./credit/spa-rl.ts";
import { ariadneMazes } from "./environments/ariadne-mazes.ts";
import { dreamgym } from "./environments/dreamgym.ts";
import { guiExplorationLab } from "./environments/gui-exploration-lab.ts";
import { lmrlGym } from "./environments/lmrl-gym.ts";
import { multiturninstruct } from "./environments/multiturninstruct.ts";
import { opagent } from "./environments/opagent.ts";
import { openagiRltf } from "./environments/openagi-rltf.ts";
import { planRewardbench } from "./environments/plan-rewardbench.ts";
import { agentRlvr } from "./language-feedback/agent-rlvr.ts";
import { critiqueGrpo } from "./language-feedback/critique-grpo.ts";
import { distil } from "./language-feedback/distil.ts";
import { paverlSql } from "./language-feedback/paverl-sql.ts";
import { r3l } from "./language-feedback/r3l.ts";
import { retroformer } from "./language-feedback/retroformer.ts";
import { rl2f } from "./language-feedback/rl2f.ts";
import { rltf } from "./language-feedback/rltf.ts";
import { scoreSelfCorrect } from "./language-feedback/score-self-correct.ts";
import { sdpo } from "./language-feedback/sdpo.ts";
import { srpoReflection } from "./language-feedback/srpo-reflection.ts";
import { text2grad } from "./language-feedback/text2grad.ts";
import { ufoTryAgain } from "./language-feedback/ufo-try-again.ts";
import { agentflyMemento } from "./memory/agentfly-memento.ts";
import { directionalStimulus } from "./memory/directional-stimulus.ts";
import { inspo } from "./memory/inspo.ts";
import { mem1 } from "./memory/mem1.ts";
import { portal } from "./memory/portal.ts";
import { rewardharness } from "./memory/rewardharness.ts";
import { sleaRl } from "./memory/slea-rl.ts";
import type { Recipe } from "./method.ts";
import { ahpo } from "./objective/ahpo.ts";
import { cpl } from "./objective/cpl.ts";
import { disco } from "./objective/disco.ts";
import { entropyMechanism } from "./objective/entropy-mechanism.ts";
import { epo } from "./objective/epo.ts";
import { inpo } from "./objective/inpo.ts";
import { miniO3 } from "./objective/mini-o3.ts";
import { minirl } from "./objective/minirl.ts";
import { nashMd } from "./objective/nash-md.ts";
import { nashMirrorProx } from "./objective/nash-mirror-prox.ts";
import { nft } from "./objective/nft.ts";
import { preflexor } from "./objective/preflexor.ts";
import { raft } from "./objective/raft.ts";
import { seeupo } from "./objective/seeupo.ts";
import { seppo } from "./objective/seppo.ts";
import { srpoSelfImproving } from "./objective/srpo-self-improving.ts";
import { t1RlScaling } from "./objective/t1-rl-scaling.ts";
import { visurf } from "./objective/visurf.ts";
import { causalrm } from "./user-feedback/causalrm.ts";
import { flr } from "./user-feedback/flr.ts";
import { nous } from "./user-feedback/nous.ts";
import { rlhs } from "./user-feedback/rlhs.ts";
import { rluf } from "./user-feedback/rluf.ts";
import { rlvfC3po } from "./user-feedback/rlvf-c3po.ts";
import { speakrl } from "./user-feedback/speakrl.ts";
import { tscac } from "./user-feedback/tscac.ts";
import { vpl } from "./user-feedback/vpl.ts";
import { yayRobot } from "./user-feedback/yay-robot.ts";

export {
  a2tgpo,
  aem,
  aGrae,
  agentflyMemento,
  agentRlvr,
  ahpo,
  archer,
  ariadneMazes,
  bestOfN,
  bootstrapFewShot,
  causalrm,
  cispo,
  cleaner,
  cosearch,
  cpl,
  critiqueGrpo,
  dapo,
  directionalStimulus,
  disco,
  distil,
  dpo,
  dreamgym,
  drGrpo,
  drKernel,
  entropyMechanism,
  epo,
  flr,
  gepa,
  grpo,
  gspo,
  guiExplorationLab,
  hiper,
  igpo,
  infopo,
  inpo,
  inspo,
  intIntervention,
  ipo,
  kto,
  lare,
  lmrlGym,
  loop,
  mapo,
  matchtir,
  mem1,
  miniO3,
  minirl,
  multiturninstruct,
  nashMd,
  nashMirrorProx,
  nft,
  nous,
  odysseus,
  opagent,
  openagiRltf,
  oprl,
  paverlSql,
  pbsd,
  planRewardbench,
  portal,
  ppo,
  pprRenorm,
  preflexor,
  preGrpo,
  r3l,
  raft,
  reinforce,
  reinforcePlusPlus,
  rejectionSampling,
  reseek,
  retroformer,
  rewardharness,
  rl2f,
  rl4mle,
  rlhs,
  rloo,
  rltf,
  rluf,
  rlvfC3po,
  rToQstar,
  scoreSelfCorrect,
  scrlSubproblemCurriculum,
  sdpo,
  seeupo,
  seppo,
  sft,
  siop,
  sleaRl,
  spaRl,
  speakrl,
  srpoReflection,
  srpoSelfImproving,
  t1RlScaling,
  text2grad,
  tscac,
  turnPpo,
  ufoTryAgain,
  visurf,
  vpl,
  yayRobot,
};

export const methods: readonly Recipe[] = [
  aGrae,
  aem,
  drKernel,
  loop,
  mapo,
  odysseus,
  bestOfN,
  bootstrapFewShot,
  cispo,
  dapo,
  dpo,
  drGrpo,
  gepa,
  grpo,
  gspo,
  ipo,
  kto,
  ppo,
  reinforcePlusPlus,
  reinforce,
  rejectionSampling,
  rloo,
  sft,
  turnPpo,
  a2tgpo,
  archer,
  cleaner,
  cosearch,
  hiper,
  igpo,
  infopo,
  intIntervention,
  lare,
  matchtir,
  oprl,
  pbsd,
  pprRenorm,
  preGrpo,
  rToQstar,
  reseek,
  rl4mle,
  scrlSubproblemCurriculum,
  siop,
  spaRl,
  ariadneMazes,
  dreamgym,
  guiExplorationLab,
  lmrlGym,
  multiturninstruct,
  opagent,
  openagiRltf,
  planRewardbench,
  agentRlvr,
  critiqueGrpo,
  distil,
  paverlSql,
  r3l,
  retroformer,
  rl2f,
  rltf,
  scoreSelfCorrect,
  sdpo,
  srpoReflection,
  text2grad,
  ufoTryAgain,
  agentflyMemento,
  directionalStimulus,
  inspo,
  mem1,
  portal,
  rewardharness,
  sleaRl,
  ahpo,
  cpl,
  disco,
  entropyMechanism,
  epo,
  inpo,
  miniO3,
  minirl,
  nashMd,
  nashMirrorProx,
  nft,
  preflexor,
  raft,
  seeupo,
  seppo,
  srpoSelfImproving,
  t1RlScaling,
  visurf,
  causalrm,
  flr,
  nous,
  rlhs,
  rluf,
  rlvfC3po,
  speakrl,
  tscac,
  vpl,
  yayRobot,
];
