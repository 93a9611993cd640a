export * as behaviourTree from "./behaviourTree/index.ts";
export * as demonstrations from "./demonstrations/index.ts";
export * as experience from "./experience/index.ts";
export type { Hit } from "./greatest.ts";
export { type HashedTextOptions, hashedText, hashedVector } from "./hashedText.ts";
export * as instructions from "./instructions/index.ts";
export { type LikenessOptions, likeness } from "./likeness.ts";
export * as reflective from "./reflective/index.ts";
export {
  type Found,
  openRetrieval,
  type Retrieval,
  type RetrievalOptions,
  type SearchOptions,
} from "./retrieval.ts";
export * as rubrics from "./rubrics/index.ts";
export { type VectorIndex, type VectorIndexOptions, vectorIndex } from "./vectorIndex.ts";
export { type WordIndex, type WordIndexOptions, wordIndex } from "./wordIndex.ts";
