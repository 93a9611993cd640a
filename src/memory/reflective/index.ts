/** What agents are told, rewritten from what happened under it and selected over a Pareto front of tasks. */
export { componentsOf, lengthOf, textIn, withText } from "./components.ts";
export { reflectiveSearch } from "./learner.ts";
export { type Descended, type Merged, mergeOf, telling } from "./merge.ts";
export type { ReflectiveSearchOptions } from "./options.ts";
export { bestOf, drawnParent, fronts, meanScore, type Scored, undominated } from "./pareto.ts";
export { poolKey } from "./pool.ts";
export {
  chatReflector,
  type QuotingOptions,
  quoting,
  type ReflectionWish,
  type Reflector,
  type Told,
} from "./reflector.ts";
