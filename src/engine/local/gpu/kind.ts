/** What the models of a GPU share: the device, and the programs of each architecture. */

import type { Gpu } from "../../../tensor/wgsl/device.ts";
import {
  type Arena,
  type GpuProgram,
  gpuProgram,
  type ProgramOptions,
} from "../../../tensor/wgsl/program.ts";
import type { Architecture } from "../parameters.ts";
import type { Precision } from "../precision.ts";
import { type Maker, type ScoringPrograms, scoringPrograms } from "../programs.ts";
import { type RotaryTable, rotaryTable } from "../rotaryTables.ts";
import type { Arithmetic } from "./arithmetic.ts";
import type { HeldArrays, Pool } from "./memory.ts";
import { type SamplingPrograms, samplingPrograms } from "./readings.ts";
import { type Arrays, trainedUnits, type Unit, unitsOf } from "./units.ts";

export interface GpuSettings {
  /** "f16": products by tensor cores, where the adapter has them; weights and sums stay in 32 bits. */
  readonly precision: Precision;
  /**
   * Bytes for the activations of a micro-batch. Of one that would keep more, backward passes compute the inside of each layer
   * once more. Default: no limit.
   */
  readonly memory?: number;
  /** For tests: kernels check every index. */
  readonly checked?: boolean;
  /** Whether a software adapter will do. Default: in tests alone. */
  readonly software?: boolean;
}

/** What all models of a device share. */
export interface Device {
  readonly gpu: Gpu;
  /** Weights and moments. */
  readonly held: HeldArrays;
  /** What forward passes keep for backward passes, gradients, and the caches of rows that are sampled. */
  readonly pools: { readonly kept: Pool; readonly gradients: Pool; readonly caches: Pool };
  readonly arithmetic: Arithmetic;
  readonly arena: Arena;
  readonly settings: GpuSettings;
  /** In the order in which they were made. */
  readonly programs: GpuProgram[];
}

/** What models of one architecture share. */
export interface Kind {
  readonly a: Architecture;
  readonly units: readonly Unit[];
  readonly trained: readonly Unit[];
  readonly scoring: ScoringPrograms<GpuProgram>;
  readonly sampling: SamplingPrograms;
  readonly table: RotaryTable;
}

export function kindOf(a: Architecture, { gpu, arena, settings, programs }: Device): Kind {
  const maker = (of: Pick<ProgramOptions, "precision" | "fewRows">): Maker<GpuProgram> => ({
    async make(inputs, outputs, updates) {
      const made = await gpuProgram(gpu, inputs, outputs, { arena, ...of, ...(updates && { updates }) });
      programs.push(made);
      return made;
    },
    async release(made) {
      programs.splice(programs.indexOf(made), 1);
      made.release();
    },
  });
  return {
    a,
    units: unitsOf(a),
    trained: trainedUnits(a),
    ...programsOf(a, settings, maker),
    table: rotaryTable(a.config),
  };
}

/** The programs of an architecture. @template S what runs a program. */
export const programsOf = <S>(
  a: Architecture,
  { precision, memory }: Pick<GpuSettings, "precision" | "memory">,
  maker: (of: Pick<ProgramOptions, "precision" | "fewRows">) => Maker<S>,
) => ({
  scoring: scoringPrograms(a, maker({ precision }), {
    layout: "joined",
    ...(memory !== undefined && { mostKept: memory }),
  }),
  // in 32 bits always: a row then gets the same bits whatever the number of rows
  sampling: samplingPrograms(a, maker({}), maker({ fewRows: true })),
});

/** The weights of one model, and what its optimiser knows. */
export interface State {
  weights: Arrays;
  moments: { readonly first: Arrays; readonly second: Arrays } | undefined;
  steps: number;
  version: number;
}

/** A model while it lives. */
export interface Running {
  readonly kind: Kind;
  readonly device: Device;
  readonly state: State;
  readonly gradients: Map<string, Arrays>;
  /** Factor on the loss, so that small gradients do not vanish in 16 bits; gradients hold it until a step. */
  lossScale: number;
}
