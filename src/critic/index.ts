export { transcript } from "../common/text/transcript.ts";
export { type ChatCriticOptions, chatCritic } from "./chat.ts";
export { chatJudge } from "./judge.ts";
export { type ChatRubricJudgeOptions, chatRubricJudge } from "./rubricJudge.ts";
export { type ScriptedCriticOptions, scriptedCritic } from "./scripted.ts";
