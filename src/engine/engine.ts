/** The engine contract: an engine makes models. What a model does is in core. */
import type { Spend } from "../core/chat.ts";
import type { Capability, Model } from "../core/model.ts";

/** What a model is made for: the words it must know, and its seed. */
export interface ModelRequest {
  readonly id: string;
  readonly seed: number;
  /** Every text that can occur, for engines that make their own tokenizer. */
  readonly lexicon: readonly string[];
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  /** Named value heads beside the distribution over tokens, where the engine can have them. */
  readonly heads?: readonly string[];
}

export interface Engine {
  readonly name: string;
  readonly can: ReadonlySet<Capability>;
  /** Step size that suits its models, where that is not the one of a small transformer. */
  readonly learningRate?: number;
  /** A fresh model. */
  create(request: ModelRequest): Promise<Model>;
  /** A model as `Model.save` wrote it. */
  open(id: string, folder: string): Promise<Model>;
  /** Of engines whose saved models are elsewhere, and named by files here. */
  readonly elsewhere?: {
    /** What the saved models anywhere in a folder hold there. */
    heldBy(folder: string): Promise<readonly string[]>;
    /** Deletes it, as far as that can be done. */
    letGo(held: readonly string[]): Promise<void>;
  };
  /** Of engines that are paid by the call: what was spent so far. */
  spent?(): Spend;
  dispose(): Promise<void>;
}
