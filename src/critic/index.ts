export { type ScriptedCriticOptions, scriptedCritic } from "./scripted.ts";
export { type SpottyOptions, spotty } from "./spotty.ts";
