export { transcript } from "../common/text/transcript.ts";
export { accuracy, areaUnderCurve, cohensKappa } from "./agreement.ts";
export { askedModel } from "./askedModel.ts";
export { type Bias, biasesOf } from "./bias.ts";
export { calibrated } from "./calibrated.ts";
export {
  atTemperature,
  calibrationCurve,
  expectedCalibrationError,
  fittedTemperature,
  isotonic,
} from "./calibration.ts";
export { type ChatCritiquerOptions, chatCritiquer } from "./chat.ts";
export {
  type Correction,
  type FittedCorrection,
  type Forecast,
  fitCorrection,
  recalibration,
} from "./correction.ts";
export { type EnsembleRule, ensembleCall, ensembleTrial } from "./ensemble.ts";
export { environmentEvaluator } from "./environment.ts";
export { chatJudge } from "./judge.ts";
export { judgeCalls } from "./judgeCall.ts";
export { type JudgedItem, judgedItem, judgedTrajectory } from "./judgedItem.ts";
export { type JudgeReport, judgeReport } from "./judgeReport.ts";
export { judgeTrial, type TrialOptions } from "./judgeTrial.ts";
export { type Labels, type PairLabel, type ReplyLabel, readLabels } from "./labels.ts";
export { chatPairJudge } from "./pairJudge.ts";
export { type ChatRubricJudgeOptions, chatRubricJudge } from "./rubricJudge.ts";
export { type ScoredItem, scoreItems } from "./scoreItems.ts";
export { type ScriptedCritiquerOptions, scriptedCritiquer } from "./scripted.ts";
export { type SelfCritiqueOptions, selfCritique } from "./selfCritique.ts";
export { type VerdictCritiqueOptions, verdictCritique } from "./verdictCritique.ts";
export { critiqueQuestion, readCritique } from "./writtenCritique.ts";
export { yesAndNo, yesProbability } from "./yesProbability.ts";
