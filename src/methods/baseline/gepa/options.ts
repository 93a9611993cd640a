/** Settings of a reflective search. */

import type { Hint } from "../../../common/text/hints.ts";
import {
  critiqueText,
  environmentText,
  firstOf,
  type Telling,
} from "../../../common/tokens/privilegedContext.ts";
import type { InstructionSet } from "../../../core/artefact.ts";
import type { Reflector } from "./reflector.ts";

/** Settings of `reflectiveSearch`. */
export interface ReflectiveSearchOptions {
  /** What the agent is told at first. Default: what is in force, else nothing. */
  readonly first?: InstructionSet;
  /** Default: the policy reflects by itself where it is a model that talks; else what is said is quoted. */
  readonly reflect?: Reflector;
  /** What was said of an attempt. Default: a critic on the way, else the environment. */
  readonly tell?: Telling;
  /** What people said in production; each reflection reads the next `hintsEach` of them. Default none, and 3. */
  readonly hints?: readonly Hint[];
  readonly hintsEach?: number;
  /** Reward of an attempt that nothing is to be learnt from. Default 1. */
  readonly perfect?: number;
  /** Most characters of all texts together. Default 4000. */
  readonly characters?: number;
  /** Most merges kept, and tasks on which one is tried first. Default 5, and 5. */
  readonly merges?: number;
  readonly mergeTasks?: number;
  readonly temperature?: number;
}

/** Settings of which only those are absent whose default hangs on the run. */
export type SearchSettings = ReflectiveSearchOptions &
  Required<Omit<ReflectiveSearchOptions, "first" | "reflect" | "temperature">>;

export const settingsOf = (options: ReflectiveSearchOptions): SearchSettings => ({
  tell: firstOf(critiqueText(), environmentText),
  hints: [],
  hintsEach: 3,
  perfect: 1,
  characters: 4000,
  merges: 5,
  mergeTasks: 5,
  ...options,
});
