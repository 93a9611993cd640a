export { transcript } from "../core/transcript.ts";
export { type ChatCriticOptions, chatCritic } from "./chat.ts";
export { discreet } from "./discreet.ts";
export { chatJudge } from "./judge.ts";
export { type ChatRubricJudgeOptions, chatRubricJudge } from "./rubricJudge.ts";
export { type ScriptedCriticOptions, scriptedCritic } from "./scripted.ts";
export { type SelfCritiqueOptions, selfCritique } from "./self.ts";
export { type SpottyOptions, spotty } from "./spotty.ts";
export { critiqueQuestion, readCritique } from "./written.ts";
