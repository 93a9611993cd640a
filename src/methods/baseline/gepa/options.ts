/** Settings of a reflective search. */

import type { Hint } from "../../../common/text/hints.ts";
import {
  critiqueText,
  environmentText,
  firstOf,
  type PrivilegedContext,
} from "../../../common/tokens/privilegedContext.ts";
import type { InstructionSet } from "../../../core/artefact.ts";
import type { Reflector } from "./reflector.ts";

/** Settings of `reflectiveSearch`. */
export interface ReflectiveSearchOptions {
  /** Initial instructions. Default: the current ones, or none. */
  readonly first?: InstructionSet;
  /** Default: the policy itself if it is a language model; otherwise feedback is quoted. */
  readonly reflect?: Reflector;
  /** Feedback on an attempt. Default: critiques of the trajectory, otherwise the environment's messages. */
  readonly tell?: PrivilegedContext;
  /** Production feedback from people; each reflection reads the next `hintsEach` items. Default none, and 3. */
  readonly hints?: readonly Hint[];
  readonly hintsEach?: number;
  /** Reward from which an attempt counts as perfect and is not reflected on. Default 1. */
  readonly perfect?: number;
  /** Most characters of all texts together. Default 4000. */
  readonly characters?: number;
  /** Most merges kept, and number of tasks of a merge's first evaluation. Default 5, and 5. */
  readonly merges?: number;
  readonly mergeTasks?: number;
  readonly temperature?: number;
}

/** Settings with defaults filled in, except those whose default depends on the run. */
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
