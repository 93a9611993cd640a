export { FeedbackError, type FeedbackErrorKind, type WrongField } from "./error.ts";
export { type FeedbackMiddlewareOptions, feedbackMiddleware } from "./feedbackMiddleware.ts";
export type { Acknowledged, Circumstances, Feedback, Target } from "./types.ts";
export { type About, type Client, type ClientOptions, type More, whetstone } from "./whetstone.ts";
