/** The engine contract: an engine creates models. The contract of a model is in core/model.ts. */
import type { Spend } from "../core/chat.ts";
import type { Capability, Model } from "../core/model.ts";

/** Settings of a new model. */
export interface ModelRequest {
  readonly id: string;
  readonly seed: number;
  /** The vocabulary: every text that can occur, for engines that make their own tokenizer. */
  readonly vocabulary: readonly string[];
  /** Longest sequence, in tokens. */
  readonly contextTokens: number;
  /** Named value heads beside the distribution over tokens, for engines that support them. */
  readonly heads?: readonly string[];
}

/** Creates and opens models of one kind. `can` lists the capabilities of its models. */
export interface Engine {
  readonly name: string;
  readonly can: ReadonlySet<Capability>;
  /** Default learning rate of its models, if it differs from that of a small transformer. */
  readonly learningRate?: number;
  /** Longest sequence for runs that state none, in tokens, where the engine's model has one of its own. */
  contextTokens?(): Promise<number>;
  /** Creates a model with initial weights. */
  create(request: ModelRequest): Promise<Model>;
  /** Opens a model that `Model.save` wrote. */
  open(id: string, folder: string): Promise<Model>;
  /** Only for engines whose saved models lie on a server; local files hold their paths. */
  readonly remoteState?: {
    /** Paths on the server that saved models anywhere in a folder refer to. */
    heldBy(folder: string): Promise<readonly string[]>;
    /** Deletes these server checkpoints, as far as the server allows it. */
    letGo(held: readonly string[]): Promise<void>;
  };
  /** Only for engines that pay per call: the spend so far. */
  spent?(): Spend;
  dispose(): Promise<void>;
}
