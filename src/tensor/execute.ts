import { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import type { Port, Program } from "./compile.ts";
import { TensorError } from "./error.ts";
import { type Shape, show, sizeOf } from "./shape.ts";

/** float32 → Float32Array, int32 → Int32Array, bool → Uint8Array. */
export type TypedArray = Float32Array | Int32Array | Uint8Array;

export interface Session {
  /**
   * Run once. Blocks the event loop while it computes.
   * @param feeds by name. Arrays are not copied. Names that the program does not take are ignored.
   * @param fetches arrays to write outputs into instead of new ones. One may be an array that is also fed, for
   *   an output that updates it in place.
   * @returns every output.
   */
  run(
    feeds: Readonly<Record<string, TypedArray>>,
    fetches?: Readonly<Record<string, TypedArray | undefined>>,
  ): Promise<Record<string, TypedArray>>;
  release(): Promise<void>;
}

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

function wrap(what: string, { name, shape, dtype }: Port, data: TypedArray | undefined): OrtTensor {
  if (!(data instanceof arrays[dtype]) || data.length !== sizeOf(shape)) {
    throw new TensorError("run", {
      got: `${what} "${name}" = ${data === undefined ? "nothing" : `${data.constructor.name} of ${data.length}`}`,
      expected: `${arrays[dtype].name} of ${sizeOf(shape)} for ${dtype} ${show(shape)}`,
      mend: `Give the ${what} "${name}" with the type and size that the program was compiled for.`,
    });
  }
  return makeTensor(dtype, data, shape);
}

const makeTensor = (dtype: Port["dtype"], data: TypedArray, shape: Shape): OrtTensor =>
  new OrtTensor(dtype as "float32", data as Float32Array, shape);

/** Make a program ready to run. @param options.threads threads within an operator; default: one a core. */
export async function createSession(
  program: Program,
  options: { readonly threads?: number } = {},
): Promise<Session> {
  const session = await InferenceSession.create(program.bytes, {
    graphOptimizationLevel: "all",
    executionMode: "sequential",
    interOpNumThreads: 1,
    // as fast as with the arena (measured), and a session gives its memory back after each run
    enableCpuMemArena: false,
    enableMemPattern: false,
    // waking a sleeping thread costs more than a small operator; sessions take turns, so one that has run must not
    // go on spinning and steal the cores from the next
    extra: { session: { intra_op: { allow_spinning: "1" }, force_spinning_stop: "1" } },
    intraOpNumThreads: options.threads ?? 0,
    logSeverityLevel: 3,
  });
  return {
    async run(feeds, fetches = {}) {
      const fed = Object.fromEntries(program.inputs.map((p) => [p.name, wrap("feed", p, feeds[p.name])]));
      const fetched = Object.fromEntries(
        program.outputs.map((p) => {
          const into = fetches[p.name];
          return [p.name, into ? wrap("fetch", p, into) : null];
        }),
      );
      const results = await session.run(fed, fetched);
      return Object.fromEntries(
        program.outputs.map((p) => [p.name, fetches[p.name] ?? (results[p.name]!.data as TypedArray)]),
      );
    },
    release: () => session.release(),
  };
}
