/** A softmax table per context: every gradient is exact, every run takes milliseconds. */
import { equal } from "../../common/equal.ts";
import { inNode } from "../../common/files/inNode.ts";
import type { Batch, TokenRows } from "../../core/batch.ts";
import { WhetstoneError } from "../../core/errors.ts";
import type {
  Capability,
  Frozen,
  GradientId,
  Loss,
  Model,
  Sample,
  SampleRequest,
  StepRule,
  StepStats,
} from "../../core/model.ts";
import type { Outputs, Wanted } from "../../core/outputs.ts";
import type { ModelId, Stats } from "../../core/types.ts";
import { backward } from "./backward.ts";
import type { WordCodec } from "./codec.ts";
import {
  dropGradients,
  finiteNorm,
  gradientName,
  gradientRows,
  gradientsOf,
  isGradient,
  mainGradient,
  optimise,
} from "./gradients.ts";
import type { Reading } from "./reading.ts";
import { type After, sampleOne } from "./sample.ts";
import {
  blendWeights,
  copyWeights,
  type Features,
  outputsOf,
  type Prior,
  type Weights,
  weightsName,
} from "./weights.ts";

const checkpoints = () => inNode(() => import("./checkpoint.ts"));

export const tabularCan: ReadonlySet<Capability> = new Set<Capability>([
  "tokens",
  "mix",
  "logp",
  "entropy",
  "topk",
  "at",
  "heads",
  "train",
  "freeze",
  "fork",
  "gradients",
]);

/** Key of the weights in a model or a frozen model; a property, so that it also works through a proxy. */
const held = Symbol("weights of a tabular model");

interface Holder {
  readonly [held]: Weights;
}

/** A model whose numbers can be inspected. */
export interface TabularModel extends Model, Holder {
  readonly codec: WordCodec;
  readonly weights: Weights;
  readonly gradients: NonNullable<Model["gradients"]>;
  /** The gradient of the loss in a buffer, by context, [writable tokens] each. For tests and exact checks. */
  gradientByContext(id?: GradientId): Map<string, Float64Array>;
}

const afterOf =
  (weights: Weights): After =>
  (prefix) =>
    weights.distribution(weights.situationOf(prefix));

/** Acting with given weights: the part that models and frozen models share. */
function actingBy(weights: Weights, version: () => string) {
  const after = afterOf(weights);
  return {
    [held]: weights,
    codec: weights.codec,
    sample: async (requests: readonly SampleRequest[]): Promise<Sample[]> =>
      requests.map((request) => {
        const mixedIn = request.mix && afterOf(weightsOf(request.mix.of));
        return sampleOne(request, weights.codec, after, version(), mixedIn);
      }),
    score: async (rows: TokenRows, want: Wanted = {}): Promise<Outputs> => outputsOf(weights, rows, want),
    dispose: async (): Promise<void> => {},
  };
}

/** @param id the name in the run. @param weights owned by the model from now on. @param startSteps steps already taken. */
export function tabularModel(
  id: ModelId,
  weights: Weights,
  contextTokens: number,
  startSteps = 0,
): TabularModel {
  let steps = startSteps;
  const version = (): string => String(steps);

  async function accumulate<A>(
    batch: Batch,
    objective: Loss<A>,
    aux: A,
    into: GradientId = mainGradient,
  ): Promise<Stats> {
    const wanted = objective.wants(aux, batch);
    const outputs = outputsOf(weights, batch, wanted);
    const { cotangents, stats } = objective.evaluate(outputs, batch, aux);
    backward(weights, batch, wanted, outputs, cotangents, gradientName(into));
    return stats;
  }

  async function step(rule: StepRule): Promise<StepStats> {
    const { pull } = rule;
    const toward = pull && weightsOf(pull.toward);
    const gradientNorm = finiteNorm(weights);
    steps++;
    optimise(weights, rule, gradientNorm, steps);
    if (pull && toward) blendWeights(weights, toward, rule.learningRate * pull.strength);
    dropGradients(weights);
    return { gradientNorm };
  }

  async function load(folder: string): Promise<void> {
    const { checkpointFile, damaged, readCheckpoint } = await checkpoints();
    const read = await readCheckpoint(folder, weights.prior, weights.reading, weights.features);
    const file = checkpointFile(folder);
    if (read.contextTokens !== contextTokens || read.weights.context !== weights.context) {
      throw damaged(file, "a model of another shape");
    }
    if (!equal(read.weights.codec.words, weights.codec.words)) {
      throw damaged(file, "the words of another model");
    }
    weights.parts.clear();
    for (const [name, table] of read.weights.parts) weights.parts.set(name, table);
    weights.changed();
    steps = read.steps;
  }

  return {
    ...actingBy(weights, version),
    id,
    get version() {
      return version();
    },
    can: tabularCan,
    contextTokens,
    weights,
    /** Grows with the contexts seen. */
    get parameters() {
      let n = 0;
      for (const table of weights.parts.values()) n += table.rows.size * table.width;
      return n;
    },
    accumulate,
    step,
    freeze: async () =>
      tabularFrozen(
        copyWeights(weights, (name) => name === weightsName),
        version(),
        contextTokens,
      ),
    fork: async (optimiser, name = id) => {
      const copy = copyWeights(
        weights,
        (name) => name === weightsName || (optimiser === "copy" && !isGradient(name)),
      );
      return tabularModel(name, copy, contextTokens, optimiser === "copy" ? steps : 0);
    },
    gradients: gradientsOf(weights),
    gradientByContext: (gradientId = mainGradient) => gradientRows(weights, gradientId),
    async save(folder) {
      const { writeCheckpoint } = await checkpoints();
      await writeCheckpoint(folder, { weights, contextTokens, steps });
    },
    load,
  };
}

function tabularFrozen(weights: Weights, startVersion: string, contextTokens: number): Frozen & Holder {
  let version = startVersion;
  return {
    ...actingBy(weights, () => version),
    get version() {
      return version;
    },
    blend: async (model, rate) => {
      blendWeights(weights, weightsOf(model), rate);
      version = `${version}~${model.version}`.slice(-80);
    },
    // as a model without steps
    async save(folder) {
      const { writeCheckpoint } = await checkpoints();
      await writeCheckpoint(folder, { weights, contextTokens, steps: 0 });
    },
  };
}

/** Opens a model that `save` wrote. */
export async function openTabular(
  id: ModelId,
  folder: string,
  prior?: Prior,
  reading?: Reading,
  features?: Features,
): Promise<TabularModel> {
  const { readCheckpoint } = await checkpoints();
  const { weights, contextTokens, steps } = await readCheckpoint(folder, prior, reading, features);
  return tabularModel(id, weights, contextTokens, steps);
}

const holdsWeights = (of: Model | Frozen): of is (Model | Frozen) & Holder => held in of;

function weightsOf(of: Model | Frozen): Weights {
  if (holdsWeights(of)) return of[held];
  throw new WhetstoneError("capability.missing", {
    where: "tabular engine, blend",
    got: "a model of another engine",
    expected: "a tabular one",
    fix: "Blend models of one engine only.",
  });
}
