export { type AnswerClustersOptions, answerClusters, clusterNotes } from "./answerClusters.ts";
export { type BlocksOptions, blocks, tagged } from "./blocks.ts";
export { type GoldLikelihoodOptions, goldLikelihood } from "./goldLikelihood.ts";
export { type PrivilegedEvidenceOptions, privilegedEvidence } from "./privilegedEvidence.ts";
export { type ProfilingRejectionOptions, profilingRejection } from "./profilingRejection.ts";
export { type ReplyInfluenceOptions, replyInfluence } from "./replyInfluence.ts";
export { type ValuesOptions, values } from "./values.ts";
