import { accumulate } from "../../tensor/accumulate.ts";
import { nameOf, type Outputs, type Port, residuals } from "../../tensor/compile.ts";
import { differentiate } from "../../tensor/differentiate.ts";
import type { Session } from "../../tensor/execute.ts";
import { input, type Tensor } from "../../tensor/graph.ts";
import { sizeOf } from "../../tensor/shape.ts";
import { type OutputRequest, type ScoringGraph, scoringGraph } from "./decoder.ts";
import { type Architecture, type Layout, wholeStacks } from "./parameters.ts";

/** A forward program that keeps the intermediate values that its backward programs read. @template S what runs a program. */
export interface TrainingPrograms<S = Session> {
  /** See `scoringGraph` for feeds and outputs; also gives `kept`. */
  readonly forward: S;
  /** Outputs of the forward pass for the targets. */
  readonly outputs: readonly Port[];
  /** Intermediate values of the forward pass: each backward pass takes its outputs `kept.‹name›` as inputs. */
  readonly kept: readonly Port[];
  /**
   * From cotangents `d.‹output›` of the named outputs and buffers `into.‹weight›`: the outputs `d.‹weight›`, each the
   * buffer plus the gradient. Write each into the buffer's own array.
   */
  backward(cotangents: readonly string[]): Promise<S>;
  /** From the same cotangents: `d.embedded` [B · T, D], the gradient with respect to the input embeddings. */
  inputGradient(cotangents: readonly string[]): Promise<S>;
}

/** Sizes and outputs of a scoring program. */
export interface ScoringShape {
  readonly B: number;
  readonly T: number;
  readonly A: number;
  readonly wanted: OutputRequest;
}

/** The programs that score and train. */
export interface ScoringPrograms<S = Session> {
  /** See `scoringGraph` for feeds and outputs. */
  score(shape: ScoringShape): Promise<S>;
  train(shape: ScoringShape): Promise<TrainingPrograms<S>>;
}

/** Makes a graph ready to run. */
export interface Maker<S> {
  /** @param updates outputs that are written into the memory of an input: for each the input's name. */
  make(inputs: readonly Tensor[], outputs: Outputs, updates?: Readonly<Record<string, string>>): Promise<S>;
  release(made: S): Promise<void>;
}

/** Maximum number of cached programs of one kind; the least recently used one is evicted. */
const mostReady = 48;

/** A cache of values, made once for each key. */
export function ready<V>(forget: (value: V) => Promise<void>) {
  const known = new Map<string, Promise<V>>();
  return async (key: string, make: () => Promise<V>): Promise<V> => {
    const value = known.get(key) ?? make();
    known.delete(key);
    known.set(key, value);
    const oldest = known.entries().next().value;
    if (known.size > mostReady && oldest) {
      known.delete(oldest[0]);
      await forget(await oldest[1]);
    }
    return value;
  };
}

/** The arrays to differentiate with respect to: a whole stack where the graph reads it as a whole. */
function gradientTargets(a: Architecture, g: ScoringGraph, layout: Layout): string[] {
  const trained = new Set(g.trained.map((p) => p.name));
  const stacked = a.adapter ? [] : wholeStacks(a, layout);
  const parts = new Set(stacked.flatMap((s) => s.parts));
  return [...[...trained].filter((name) => !parts.has(name)), ...stacked.map((s) => s.name)];
}

/** What makes graphs differ between devices. */
export interface ScoringOptions {
  readonly layout?: Layout;
  /**
   * Most bytes that a forward program keeps for its backward program. A program that would keep more keeps the residual stream
   * between layers alone; its backward program computes the inside of each layer once more, right before it is read, and the
   * scores of all tokens in parts.
   */
  readonly mostKept?: number;
}

/** Targets whose scores of all tokens are in memory at a time, where memory is short. */
const targetsAtOnce = 512;

/** A scoring graph, what it is differentiated by, and what backward passes read of the forward pass. */
function gradientGraph(a: Architecture, { B, T, A, wanted }: ScoringShape, layout: Layout, atOnce = A) {
  const g = scoringGraph(a, B, T, A, wanted, layout, atOnce);
  const cotangents = new Map(
    Object.entries(g.outputs).map(([name, of]) => [name, { of, cotangent: input(`d.${name}`, of.shape) }]),
  );
  const targets = gradientTargets(a, g, layout);
  const into = new Map(targets.map((name) => [name, input(`into.${name}`, g.weights.get(name)!.shape)]));
  const wrt = [...targets.map((name) => g.weights.get(name)!), g.embedded];
  // one forward serves every backward: it keeps what the backward from all cotangents reads
  const whole = differentiate([...cotangents.values()], wrt);
  const fromLogp = differentiate([cotangents.get("logp")!], wrt);
  const kept = residuals(Object.values(g.outputs), [...whole, ...fromLogp]);
  return { g, cotangents, targets, into, wrt, kept };
}

type GradientGraph = Omit<ReturnType<typeof gradientGraph>, "kept"> & { readonly kept: readonly Tensor[] };

/** The same with little memory: scores in parts, and nothing kept but the residual stream. */
function inParts(a: Architecture, shape: ScoringShape, layout: Layout): GradientGraph {
  const made = gradientGraph(a, shape, layout, Math.min(shape.A, targetsAtOnce));
  return { ...made, kept: made.g.states };
}

const bytesOf = (of: readonly Tensor[]): number => of.reduce((sum, t) => sum + 4 * sizeOf(t.shape), 0);

/** The programs that score and train, whatever runs them. */
export function scoringPrograms<S>(
  a: Architecture,
  { make, release }: Maker<S>,
  { layout = "apart", mostKept = Number.POSITIVE_INFINITY }: ScoringOptions = {},
): ScoringPrograms<S> {
  const scoring = ready<S>(release);
  const training = ready<{ programs: TrainingPrograms<S>; release(): Promise<void> }>((t) => t.release());

  async function trainingPrograms(shape: ScoringShape) {
    const plain: GradientGraph = gradientGraph(a, shape, layout);
    const parts = bytesOf(plain.kept) <= mostKept ? plain : inParts(a, shape, layout);
    const { g, cotangents, targets, into, wrt, kept } = parts;
    const feeds = [...g.weights.values(), ...g.inputs];
    const made = new Map<string, Promise<S>>();
    const from = (
      names: readonly string[],
      build: (gradients: readonly Tensor[]) => Outputs,
      kind: string,
      updates: Readonly<Record<string, string>> = {},
    ) => {
      const key = `${kind} ${names.toSorted().join()}`;
      const known = made.get(key);
      if (known) return known;
      const given = names.map((name) => cotangents.get(name)!);
      const gradients = differentiate(given, wrt);
      const next = make(
        [...feeds, ...given.map((x) => x.cotangent), ...into.values(), ...kept],
        build(gradients),
        updates,
      );
      made.set(key, next);
      return next;
    };
    const forward = await make(feeds, [
      ...Object.entries({ ...g.outputs, ...g.fixed }).map(([name, of]) => ({ name, of })),
      ...kept.map((of) => ({ name: `kept.${nameOf(of)}`, of })),
    ]);
    const port = (name: string, t: Tensor): Port => ({ name, shape: t.shape, dtype: t.dtype });
    const programs: TrainingPrograms<S> = {
      forward,
      outputs: Object.entries({ ...g.outputs, ...g.fixed }).map(([name, t]) => port(name, t)),
      kept: kept.map((t) => port(nameOf(t), t)),
      backward: (names) =>
        from(
          names,
          (gradients) =>
            targets.map((name, i) => ({ name: `d.${name}`, of: accumulate(into.get(name)!, gradients[i]!) })),
          "weights",
          Object.fromEntries(targets.map((name) => [`d.${name}`, `into.${name}`])),
        ),
      inputGradient: (names) => from(names, (gradients) => ({ "d.embedded": gradients.at(-1)! }), "inputs"),
    };
    return {
      programs,
      async release() {
        await release(forward);
        for (const backward of made.values()) await release(await backward);
      },
    };
  }

  return {
    score: (shape) =>
      scoring(JSON.stringify(shape), () => {
        const { B, T, A, wanted } = shape;
        const isLarge = 4 * A * a.config.vocabulary > mostKept / 4;
        const g = scoringGraph(a, B, T, A, wanted, layout, isLarge ? Math.min(A, targetsAtOnce) : A);
        return make([...g.weights.values(), ...g.inputs], { ...g.outputs, ...g.fixed });
      }),
    train: async (shape) => (await training(JSON.stringify(shape), () => trainingPrograms(shape))).programs,
  };
}
