export { type Answers, type Dropped, type LessonFilter, lessonsFrom } from "./derived.ts";
export { type LoggedOptions, logged, spanOf } from "./logged.ts";
export { type Served, type ServedSession, servedSessions } from "./sessions.ts";
export { taskOfPrompt } from "./task.ts";
