import { InferenceSession, Tensor as OrtTensor } from "onnxruntime-node";
import { emptyList, type Port, type Program } from "./compile.ts";
import { TensorError } from "./error.ts";
import { type Shape, sameShape, show, sizeOf } from "./shape.ts";

/** float32 → Float32Array, int32 → Int32Array, bool → Uint8Array. */
export type TypedArray = Float32Array | Int32Array | Uint8Array;

/** A program that is ready to run. `release` frees its memory. */
export interface Session {
  /**
   * Run once. Blocks the event loop while it computes.
   * @param feeds by name. Arrays are not copied. Unknown names are ignored.
   * @param fetches arrays to write outputs into instead of new ones. A fetched array may also be fed, for an output that
   *   updates it in place.
   * @returns every output.
   */
  run(
    feeds: Readonly<Record<string, TypedArray>>,
    fetches?: Readonly<Record<string, TypedArray | undefined>>,
  ): Promise<Record<string, TypedArray>>;
  /**
   * Run once and write the named outputs into these arrays, without a copy. An array may also be fed, for an output that
   * updates it in place. `run` copies each output into a new array even with fetches, which costs more than the computation
   * if caches or residuals are among the outputs.
   */
  runInto(
    feeds: Readonly<Record<string, TypedArray>>,
    into: Readonly<Record<string, TypedArray>>,
  ): Promise<void>;
  release(): Promise<void>;
}

const arrays = { float32: Float32Array, int32: Int32Array, bool: Uint8Array } as const;

/** ONNX Runtime's error when it has to return an empty list. */
const cannotHandOver = "Non tensor type is temporarily not supported";

/** Wrapped arrays are cached: wrapping takes longer than a small operator, and most feeds are the same weights. */
const wrapped = new WeakMap<TypedArray, OrtTensor>();

function wrap(what: string, { name, shape, dtype }: Port, data: TypedArray | undefined): OrtTensor {
  if (!(data instanceof arrays[dtype]) || data.length !== sizeOf(shape)) {
    throw new TensorError("run", {
      got: `${what} "${name}" = ${data === undefined ? "nothing" : `${data.constructor.name} of ${data.length}`}`,
      expected: `${arrays[dtype].name} of ${sizeOf(shape)} for ${dtype} ${show(shape)}`,
      fix: `Give the ${what} "${name}" with the type and size that the program was compiled for.`,
    });
  }
  const known = wrapped.get(data);
  if (known && sameShape(known.dims, shape)) return known;
  const made = makeTensor(dtype, data, shape);
  wrapped.set(data, made);
  return made;
}

const makeTensor = (dtype: Port["dtype"], data: TypedArray, shape: Shape): OrtTensor =>
  new OrtTensor(dtype as "float32", data as Float32Array, shape);

/** What ONNX Runtime computes on. */
export type Device = "cpu" | "cuda";

/** Settings of a session. */
export interface SessionOptions {
  /** Threads within an operator. Default: one per core. */
  readonly threads?: number;
  /** Default "cpu". */
  readonly device?: Device;
  /** Wraps every call of native code. Default: direct calls. */
  readonly native?: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Prepare a program for running. */
export async function createSession(
  program: Program,
  { threads = 0, device = "cpu", native = (work) => work() }: SessionOptions = {},
): Promise<Session> {
  const settings: InferenceSession.SessionOptions = {
    executionProviders: device === "cpu" ? ["cpu"] : [device, "cpu"],
    graphOptimizationLevel: "all",
    executionMode: "sequential",
    interOpNumThreads: 1,
    // as fast as with the arena (measured), and a session releases its memory after each run
    enableCpuMemArena: false,
    enableMemPattern: false,
    // waking a thread costs more than a small operator; sessions take turns, so after its run a session must stop
    // spinning and leave the cores to the next
    extra: { session: { intra_op: { allow_spinning: "1" }, force_spinning_stop: "1" } },
    intraOpNumThreads: threads,
    logSeverityLevel: 3,
  };
  const session = await native(() => InferenceSession.create(program.bytes, settings));
  const wrapFeeds = (feeds: Readonly<Record<string, TypedArray>>): Record<string, OrtTensor> =>
    Object.fromEntries(program.inputs.map((p) => [p.name, wrap("feed", p, feeds[p.name])]));
  return {
    async run(feeds, fetches = {}) {
      const fed = wrapFeeds(feeds);
      const fetched = Object.fromEntries(
        program.outputs.map((p) => {
          const into = fetches[p.name];
          return [p.name, into ? wrap("fetch", p, into) : null];
        }),
      );
      const results = await native(() => session.run(fed, fetched));
      return Object.fromEntries(
        program.outputs.map((p) => [p.name, fetches[p.name] ?? (results[p.name]!.data as TypedArray)]),
      );
    },
    async runInto(feeds, into) {
      const wanted = program.outputs.filter((p) => into[p.name] !== undefined);
      const fetched = Object.fromEntries(wanted.map((p) => [p.name, wrap("output", p, into[p.name])]));
      try {
        // results are returned one by one, each as a copy; by then all are in their arrays. The first is a list, at which
        // ONNX Runtime's binding throws
        const fed = wrapFeeds(feeds);
        await native(() => session.run(fed, { [emptyList]: null, ...fetched }));
      } catch (e) {
        if (!(e instanceof Error && e.message.includes(cannotHandOver))) throw e;
      }
    },
    release: () => native(() => session.release()),
  };
}
