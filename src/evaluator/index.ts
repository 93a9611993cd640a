export { transcript } from "../common/text/transcript.ts";
export { type ChatCritiquerOptions, chatCritiquer } from "./chat.ts";
export { environmentEvaluator } from "./environment.ts";
export { chatJudge } from "./judge.ts";
export { type ChatRubricJudgeOptions, chatRubricJudge } from "./rubricJudge.ts";
export { type ScriptedCritiquerOptions, scriptedCritiquer } from "./scripted.ts";
