export { type ScriptedCriticOptions, scriptedCritic } from "./scripted.ts";
