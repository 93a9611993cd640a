export { type AnswerClustersOptions, answerClusters, clusterNotes } from "./answerClusters.ts";
export { type BlocksOptions, blocks, tagged } from "./blocks.ts";
export { type GoldLikelihoodOptions, goldLikelihood } from "./goldLikelihood.ts";
export { type PivotsOptions, pivots } from "./pivots.ts";
export { type PrivilegedEvidenceOptions, privilegedEvidence } from "./privilegedEvidence.ts";
export { type ProfilingRejectionOptions, profilingRejection } from "./profilingRejection.ts";
export { type ReplyInfluenceOptions, replyInfluence } from "./replyInfluence.ts";
export { type TeacherOptions, teacher } from "./teacher.ts";
export { type ValuesOptions, values } from "./values.ts";
