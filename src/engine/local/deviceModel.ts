/** One model's weights, moments and gradients on the device that computes with them. The engine thread holds one for each handle. */
import type { Codec, StepRule, StepStats } from "../../core/model.ts";
import type { TypedArray } from "../../tensor/execute.ts";
import type { OutputRequest } from "./decoder.ts";
import type { Architecture } from "./parameters.ts";
import type { Handle, MemoryPlan, MemoryUse, ModelContents, PackedRows } from "./protocol.ts";
import type { Readings } from "./readings.ts";

export interface ReadingRequest {
  readonly codec: Pick<Codec, "padId">;
  /** Another model's weights, for requests that mix it in. */
  readonly other: (of: Handle) => DeviceModel;
}

export interface DeviceModel {
  /** Models with the same programs have the same. */
  readonly kind: object;
  /** Counts weight changes. Every sample records it, to tell which weights it came from. */
  readonly version: number;
  /** See `Calls.forward`. */
  forward(rows: PackedRows, wanted: OutputRequest, keep: boolean): Promise<Record<string, TypedArray>>;
  /** See `Calls.backward`. */
  backward(into: string, cotangents: Readonly<Record<string, Float32Array>>): Promise<void>;
  inputGradient(cotangents: Readonly<Record<string, Float32Array>>): Promise<Float32Array>;
  /** One step from the main gradient; clears all gradients. See `optimiserStep` for what steps do. */
  step(
    rule: Omit<StepRule, "pull">,
    pull?: { readonly toward: DeviceModel; readonly strength: number },
  ): Promise<StepStats>;
  /** θ ← (1 − rate) θ + rate θ′, over the trained weights. */
  blend(toward: DeviceModel, rate: number): Promise<void>;
  /** Inner product of two gradients. */
  dot(a: string, b: string): Promise<number>;
  /** The main gradient becomes a sum of gradients. */
  combine(sum: Readonly<Record<string, number>>): Promise<void>;
  copy(optimiser: "copy" | "fresh"): Promise<DeviceModel>;
  contents(which?: "all" | "trained"): Promise<ModelContents>;
  replace(contents: ModelContents): Promise<void>;
  /** What reads the rows that are sampled together. The weights must not change meanwhile. */
  readings(request: ReadingRequest): Readings;
  /** What training takes of the device's memory, on devices with memory of their own. @throws WhetstoneError `device.full`. */
  memory?(use: MemoryUse): Promise<MemoryPlan>;
  drop(): void;
}

/** Makes models on one device. */
export interface ComputeDevice {
  create(architecture: Architecture, contents: ModelContents): Promise<DeviceModel>;
}
