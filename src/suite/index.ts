import { lmrlGym } from "./lmrlGym.ts";
import { multiturninstruct } from "./multiturninstruct.ts";
import { planRewardBench } from "./planRewardBench.ts";
import type { EvaluationSuite } from "./suite.ts";

export { type SuiteReport, suitePage } from "./report.ts";
export type { EvaluationSuite, SuiteAgent, SuiteOptions, SuiteResult, SuiteRow } from "./suite.ts";
export { meanRow, playParts, shareRow } from "./suite.ts";

/** All suites. */
export const suites: readonly EvaluationSuite[] = [lmrlGym, multiturninstruct, planRewardBench];
