/**
 * Whetstone: LLM agents that learn from feedback. This is what most programs need; subjects have subpaths of their own, such
 * as `whetstone/env` for environments and `whetstone/objective` for losses (package.json lists them all).
 */

export type { StatedRun as TrainConfig } from "./cli/options.ts";
export { writeCall } from "./common/text/toolCalls.ts";
export type { Artefact } from "./core/artefact.ts";
export type { Batch } from "./core/batch.ts";
export type { Chat, ChatRequest } from "./core/chat.ts";
export type { Ctx } from "./core/context.ts";
export { type ErrorCode, isWhetstoneError, WhetstoneError } from "./core/errors.ts";
export type { Finding } from "./core/finding.ts";
export type { Interval } from "./core/interval.ts";
export type { Json } from "./core/json.ts";
export type { Capability, Model } from "./core/model.ts";
export type { Objective } from "./core/objective.ts";
export { type Random, randomStream, shuffled } from "./core/random.ts";
export type { Signal } from "./core/signal.ts";
export type { Slots } from "./core/slots.ts";
export {
  type Ending,
  type Message,
  paid,
  succeeded,
  type Task,
  type Tool,
  type Trajectory,
  type Turn,
} from "./core/types.ts";
export { budget, chatEngine, chatModel } from "./engine/chat/index.ts";
export type { Engine } from "./engine/engine.ts";
export { type LocalOptions, localEngine } from "./engine/local/index.ts";
export { tabularEngine } from "./engine/tabular/engine.ts";
export { tinkerEngine } from "./engine/tinker/index.ts";
export { type AgentCall, agent } from "./env/agent/agent.ts";
export { bandit } from "./env/bandit.ts";
export {
  defineEnvironment,
  type Environment,
  type Episode,
  type Observation,
  type Player,
  type SplitName,
  type Step,
} from "./env/environment.ts";
export { facts } from "./env/facts/facts.ts";
export { type EnvironmentEntry, environments } from "./env/index.ts";
export { method, type Recipe, type SlotChoices } from "./method/method.ts";
export { defaultSettings, type Settings } from "./method/settings.ts";
export { grpo } from "./methods/baseline/grpo/method.ts";
export { findMethod, methods } from "./methods/catalogue.ts";
export { openaiServer } from "./serve/openaiServer.ts";
export { defineCheck } from "./train/check.ts";
export { evaluate } from "./train/evaluate.ts";
export type { RunEvent } from "./train/events.ts";
export { type RunOptions, type RunSummary, train } from "./train/run.ts";
export { type TrainInMemoryOptions, trainInMemory } from "./train/trainInMemory.ts";
